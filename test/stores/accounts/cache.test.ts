import t from 'tap'
import { KeyCache, type KeySource } from '../../../src/stores/sqlite/accounts/cache.ts'
import { mintKey } from '../../../src/stores/sqlite/accounts/secrets/keys.ts'
import type { ChangeListener } from '../../../src/stores/sqlite/accounts/changes.ts'
import type { KeyOwner } from '../../../src/ports/keys.ts'
import { addEndpoint, openStore, openWithEndpoint } from './support/open-store.ts'

/** A source that counts its lookups. */
function fakeSource(owners: Map<string, KeyOwner>) {
  const asked: string[] = []
  const recorded: (string | number)[][] = []
  const deaf: ChangeListener = () => undefined
  const state = { changed: false, tell: deaf }
  const source: KeySource = {
    findByKey: key => (asked.push(key), owners.get(key) ?? null),
    changedElsewhere: () => state.changed,
    recordUse: (ids, hour) => {
      recorded.push([...ids, hour])
      return Promise.resolve()
    },
    onChange: listener => {
      state.tell = listener
      return () => (state.tell = deaf)
    },
  }
  return { source, asked, recorded, state }
}

const owner = { account: { id: 'acc_1' }, endpoint: { id: 'ep_1' }, until: null } as KeyOwner

t.test('a known key is looked up once', t => {
  const key = mintKey()
  const { source, asked } = fakeSource(new Map([[key, owner]]))
  const cache = new KeyCache(source)
  for (let i = 0; i < 3; i++) t.equal(cache.find(key), owner)
  t.strictSame(asked, [key])
  t.end()
})

t.test('a malformed key is never looked up', t => {
  const { source, asked } = fakeSource(new Map())
  const cache = new KeyCache(source)
  for (const key of ['', 'public', `${mintKey()}x`, '__proto__']) t.equal(cache.find(key), null)
  t.strictSame(asked, [])
  t.end()
})

t.test('an unknown key is looked up again after 10 s', t => {
  const { source, asked } = fakeSource(new Map())
  const clock = { time: 1, now: () => 0, monotonic: () => clock.time }
  const cache = new KeyCache(source, clock)
  const key = mintKey()
  const find = () => t.equal(cache.find(key), null)
  find()
  clock.time += 9_999
  find()
  t.equal(asked.length, 1)
  clock.time += 2
  find()
  t.equal(asked.length, 2)
  t.end()
})

t.test('both memories are bounded', t => {
  const keys = Array.from({ length: 10_001 }, mintKey)
  const { source, asked } = fakeSource(new Map())
  const cache = new KeyCache(source)
  for (const key of keys) cache.find(key)
  cache.find(keys.at(-1)!)
  t.equal(asked.length, 10_001, 'the newest is remembered')
  cache.find(keys[0]!)
  t.equal(asked.length, 10_002, 'the oldest is not')

  const many = Array.from({ length: 100_001 }, mintKey)
  const full = fakeSource(new Map(many.map(key => [key, owner])))
  const known = new KeyCache(full.source)
  for (const key of many) known.find(key)
  known.find(many.at(-1)!)
  t.equal(full.asked.length, 100_001)
  known.find(many[0]!)
  t.equal(full.asked.length, 100_002)
  t.end()
})

t.test('a change here forgets the keys it names, a change elsewhere everything', t => {
  const [first, second, unknown] = [mintKey(), mintKey(), mintKey()]
  const { source, asked, state } = fakeSource(new Map([first, second].map(key => [key, owner])))
  const cache = new KeyCache(source)
  const ask = () => {
    asked.length = 0
    for (const key of [first, second, unknown]) cache.find(key)
    return [...asked]
  }
  ask()
  t.strictSame(ask(), [])
  state.tell([first])
  t.strictSame(ask(), [first])
  cache.poll()
  t.strictSame(ask(), [])
  state.changed = true
  cache.poll()
  t.strictSame(ask(), [first, second, unknown])
  cache.close()
  state.tell([first])
  t.strictSame(ask(), [], 'a closed cache listens no more')
  t.end()
})

t.test('over a store: a change here shows at once, in the same turn as its promise', async t => {
  const { store, account, endpoint } = await openWithEndpoint(t)
  const cache = new KeyCache(store)
  t.match(cache.find(endpoint.apiKey), { account: { plan: 'free' }, endpoint: { status: 'active' } })
  await store.accounts.change(account.id, { plan: 'paid' })
  t.match(cache.find(endpoint.apiKey), { account: { plan: 'paid' } })
  await store.endpoints.change(account.id, endpoint.id, { status: 'inactive' })
  t.match(cache.find(endpoint.apiKey), { endpoint: { status: 'inactive' } })
  await store.endpoints.remove(account.id, endpoint.id)
  t.equal(cache.find(endpoint.apiKey), null)
  const fresh = await addEndpoint(store, account.id)
  t.equal(cache.find(fresh.apiKey)?.endpoint.id, fresh.id)
})

t.test('over a store: a change by another connection shows after the next poll', async t => {
  const { store, account, endpoint, dataDir } = await openWithEndpoint(t)
  const { store: cli } = await openStore(t, { dataDir })
  const cache = new KeyCache(store)
  cache.poll()
  const [keep, gone] = [endpoint, await addEndpoint(store, account.id)]
  for (const { apiKey } of [keep, gone]) t.ok(cache.find(apiKey))

  await cli.accounts.change(account.id, { status: 'suspended' })
  await cli.endpoints.remove(null, gone.id)
  t.match(cache.find(keep.apiKey), { account: { status: 'active' } }, 'before the poll the old answer stands')
  cache.poll()
  t.match(cache.find(keep.apiKey), { account: { status: 'suspended' } })
  t.equal(cache.find(gone.apiKey), null)
  t.notOk(store.changedElsewhere(), 'asked once, answered once')
})

t.test('bug: a key that was tried while it had expired stayed refused for 10 s', async t => {
  const { store, account, endpoint, dataDir } = await openWithEndpoint(t)
  const { store: other } = await openStore(t, { dataDir })
  const [here, there] = [new KeyCache(store), new KeyCache(other)]
  const past = Math.floor(Date.now() / 1000) - 10
  const expire = async (expiresAt: number | null) => {
    await store.endpoints.change(account.id, endpoint.id, { expiresAt })
    there.poll()
  }
  await expire(past)
  const rotated = await store.endpoints.rotateKey(account.id, endpoint.id, 60)
  if (rotated === null || typeof rotated === 'string') throw new Error('not rotated')
  there.poll()
  const next = rotated.endpoint.apiKey
  for (const cache of [here, there]) t.equal(cache.find(next), null)
  await expire(past + 1_000)
  for (const cache of [here, there]) t.equal(cache.find(next)?.endpoint.id, endpoint.id)
  await expire(past)
  for (const cache of [here, there]) t.equal(cache.find(next), null)
  await expire(null)
  for (const cache of [here, there]) t.equal(cache.find(next)?.endpoint.id, endpoint.id)
})

t.test('a key that ends is nobody’s from then on, and counts as a change', t => {
  const key = mintKey()
  const { source, asked } = fakeSource(new Map([[key, { ...owner, until: 100 }]]))
  const clock = { time: 99_999, now: () => clock.time, monotonic: () => 0 }
  const cache = new KeyCache(source, clock)
  t.ok(cache.find(key))
  cache.poll()
  t.equal(cache.changes, 0)
  clock.time = 100_000
  t.equal(cache.find(key), null)
  cache.poll()
  t.equal(cache.changes, 1, 'open sockets look again')
  cache.poll()
  t.equal(cache.changes, 1)
  t.equal(asked.length, 1)
  t.end()
})

t.test(
  'the use of an endpoint is written down once an hour, and not lost with what is forgotten',
  async t => {
    const [one, two] = [mintKey(), mintKey()]
    const other = { ...owner, endpoint: { id: 'ep_2' } } as KeyOwner
    const { source, recorded, state } = fakeSource(
      new Map([
        [one, owner],
        [two, other],
      ]),
    )
    const clock = { time: 7_300_000, now: () => clock.time, monotonic: () => 0 }
    const cache = new KeyCache(source, clock)
    await cache.recordUse()
    t.strictSame(recorded, [])
    for (let i = 0; i < 3; i += 1) cache.find(one)
    await cache.recordUse()
    cache.find(one)
    await cache.recordUse()
    t.strictSame(recorded, [['ep_1', 7_200]])
    cache.find(two)
    state.changed = true
    cache.poll()
    t.strictSame(recorded[1], ['ep_2', 7_200])
    state.changed = false
    clock.time += 3_600_000
    cache.find(one)
    await cache.recordUse()
    t.strictSame(recorded[2], ['ep_1', 10_800])
  },
)
