/** How much is kept for webhooks, and how it is found. */
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { AlertEvent } from '../../../src/config/alerts.ts'
import { OPERATORS } from '../../../src/ports/alerts.ts'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { openStore } from './support/open-store.ts'

const NOW = 1_800_000_000

async function open(t: Test) {
  const { store, dataDir } = await openStore(t, { now: () => NOW })
  const { account } = await store.accounts.create({ name: 'Acme', plan: 'free' })
  const raise = (type: AlertEvent, accountId: string | null = null, once?: string) =>
    store.alerts.raise({ type, accountId, data: {} }, true, once)
  /** Writes messages as if they had been raised. */
  const fill = (target: string, messages: number, webhooks = 1): void => {
    const raw = new DatabaseSync(join(dataDir, 'accounts.db'))
    raw.exec(`
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${webhooks})
      INSERT OR IGNORE INTO receiver
        SELECT '${target}' || iif(i = 0, '', i), iif('${target}' = 'operator', 'operator', 'accounts'), 0, 0, 0, ${NOW}000 FROM n;
      WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${messages})
      INSERT INTO delivery (id, target, type, body, attempts, next_at)
        SELECT '${target}_' || i, '${target}' || iif(i % ${webhooks} = 0, '', i % ${webhooks}), 'key.rotated', '{}', 0, ${NOW} FROM n`)
    raw.close()
  }
  const dueOf = (target: string, most = 10) =>
    (store.alerts.due(target, NOW, most) as readonly { type: string }[]).map(({ type }) => type)
  return { store, account, raise, fill, dueOf, dataDir }
}

t.test('bug: what had no room is reported, and was not raised', async t => {
  const { store, raise, fill, account } = await open(t)
  await store.alerts.setWebhook(account.id, 'https://hooks.example.com/')
  fill(OPERATORS, 11_000)
  t.strictSame(await raise('key.rotated'), [OPERATORS])
  t.strictSame(await raise('quota.threshold', account.id, 'quota 75%'), [OPERATORS], 'the owner has room')
  t.strictSame(store.alerts.waiting(), { operator: 11_000, accounts: 1 })
  for (const outcome of store.alerts.due(OPERATORS, NOW, 2) as readonly { id: string }[])
    await store.alerts.settle(
      [{ id: outcome.id, target: OPERATORS, isTaken: true, isSlow: false, nextAt: null }],
      NOW * 1000,
    )
  t.strictSame(await raise('quota.threshold', account.id, 'quota 75%'), [])
  t.strictSame(store.alerts.waiting(), { operator: 10_999, accounts: 1 }, 'the owner is told once')
  t.strictSame(await raise('quota.threshold', account.id, 'quota 75%'), [])
  t.strictSame(store.alerts.waiting(), { operator: 10_999, accounts: 1 }, 'so is the operator')
})

t.test('bug: one account fills no queue of the operator, and urgent events are ahead of it', async t => {
  const { store, raise, account, dueOf } = await open(t)
  const full: string[] = []
  for (let n = 0; n < 110; n += 1) full.push(...(await raise('key.rotated', account.id)))
  t.strictSame(full, Array<string>(10).fill(OPERATORS))
  t.strictSame(await raise('account.suspended', 'acc_another'), [])
  t.strictSame(await raise('quota.threshold', account.id, 'q'), [])
  t.strictSame(await raise('network.down'), [])
  t.strictSame(dueOf(OPERATORS, 3), ['quota.threshold', 'network.down', 'key.rotated'])
  t.strictSame(store.alerts.waiting(), { operator: 103, accounts: 0 })
})

t.test('webhooks of accounts keep room for each other', async t => {
  const { store, account, raise, fill } = await open(t)
  await store.alerts.setWebhook(account.id, 'https://hooks.example.com/')
  fill('acc_x', 60_000, 60)
  for (let n = 0; n < 10; n += 1) t.notOk((await raise('key.rotated', account.id)).includes(account.id))
  t.ok((await raise('key.rotated', account.id)).includes(account.id), 'over half is taken: ten each')
  await store.alerts.setWebhook(account.id, null)
  t.strictSame(store.alerts.waiting().accounts, 60_000, 'its messages go with a webhook')
})

t.test('bug: what is due is found without reading all that waits', async t => {
  const { store, fill } = await open(t)
  const look = (): number => {
    const begin = performance.now()
    for (let n = 0; n < 20; n += 1)
      for (const lane of ['operator', 'accounts', 'suspects'] as const)
        for (const target of store.alerts.receivers(lane, NOW * 1000, 4) as readonly string[])
          store.alerts.due(target, NOW, 1)
    return performance.now() - begin
  }
  fill('acc_a', 100, 100)
  look()
  const few = look()
  fill('acc_b', 50_000, 50)
  const many = look()
  t.ok(many < 50 * few + 50, `${few} ms with 100 messages, ${many} ms with 50 100`)
})

t.test('a webhook with a control character in its URL is not stored', async t => {
  const { store, account } = await open(t)
  await t.rejects(
    store.alerts.setWebhook(account.id, 'https://hooks.example.com/a\u009bb'),
    /cannot be stored/,
  )
  t.equal(store.alerts.webhook(account.id), null)
})

t.test(
  'an account hears that the operator acted, and not by which token; the operator hears both',
  async t => {
    const { store, account } = await open(t)
    const { id } = account
    await store.alerts.setWebhook(id, 'https://hooks.example.com/')
    const endpoint = await store.endpoints.create({ accountId: id, network: 'bsc' })
    if (typeof endpoint === 'string') throw new Error(endpoint)
    await store.alerts.readTrail([])
    const actors = ['token:tok_secret', 'cli', 'owner:dashboard', `owner:${endpoint.id}`] as const
    for (const actor of actors) await store.endpoints.rotateKey(id, endpoint.id, 0, { actor })
    await store.accounts.change(id, { status: 'suspended' }, { actor: 'token:tok_secret' })
    await store.alerts.readTrail(['key.rotated', 'account.suspended'])
    const actorsTo = (target: string) =>
      (store.alerts.due(target, NOW, 10) as readonly { body: string }[]).map(
        ({ body }) => (JSON.parse(body) as { data: { actor: string } }).data.actor,
      )
    t.strictSame(actorsTo(OPERATORS), [...actors, 'token:tok_secret'])
    const own = ['owner:dashboard', `owner:${endpoint.id}`]
    t.strictSame(actorsTo(id), ['operator', 'operator', ...own, 'operator'])
    t.notMatch(JSON.stringify(store.alerts.due(id, NOW, 10)), 'tok_secret')
  },
)

t.test('bug: an entry that is an event is not removed as old before it has been read', async t => {
  const clock = { now: NOW }
  const { store } = await openStore(t, { now: () => clock.now })
  const { account } = await store.accounts.create({ name: 'Acme', plan: 'free' })
  await store.accounts.change(account.id, { status: 'suspended' })
  clock.now += 1_000
  await store.audit.forget(clock.now)
  const actions = async () =>
    (
      await store.audit.read({ from: null, to: null, actor: null, target: null, before: null, limit: 10 })
    ).entries.map(({ action }) => action)
  t.strictSame(await actions(), ['account.suspended'])
  await store.alerts.readTrail(['account.suspended'])
  t.match(store.alerts.due(OPERATORS, clock.now, 10), [{ type: 'account.suspended' }])
  await store.audit.forget(clock.now)
  t.strictSame(await actions(), [])
})
