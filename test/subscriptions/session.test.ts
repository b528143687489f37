import t, { type Test } from 'tap'
import type { Caller } from '../../src/call/caller.ts'
import type { Live } from '../../src/call/context.ts'
import { Slots } from '../../src/limits/slots.ts'
import type { Charge } from '../../src/ports/journal.ts'
import type { Grant } from '../../src/ports/limits.ts'
import type { Listener, Share } from '../../src/ports/subscriptions.ts'
import { refuse } from '../../src/refusal/refusal.ts'
import type { Refusal } from '../../src/refusal/refusal.ts'
import type { NotificationFrame } from '../../src/subscriptions/client/notification-frame.ts'
import { Outbox } from '../../src/subscriptions/client/outbox.ts'
import { ClientSession } from '../../src/subscriptions/client/session.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { TestClock } from '../support/test-clock.ts'

/** A turn of the event loop: all that was promised before has been acted on. */
const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** A socket's session, whose limits and journal answer as the test says; `seen` is what the client and the ports saw, in order. */
async function scene(t: Test, { isPublic = false } = {}) {
  const { networks } = await snapshotOf(t)
  const network = networks['eth']!
  const seen: string[] = []
  const see = (what: string): void => void seen.push(what)
  let listener: Listener | undefined
  const share: Share = { start: () => see('start'), leave: () => see('leave') }
  const world = {
    seen,
    /** What the limits answer to the nth notification. */
    take: (() => grant) as (nth: number) => Promise<Grant | Refusal> | Grant | Refusal,
    commit: (() => true) as () => Promise<boolean> | boolean,
    join: (): Promise<Share | Refusal> => Promise.resolve(share),
    isSent: true,
  }
  const grant: Grant = { units: 3, at: 0, period: 0, giveBack: () => see('grant back') }
  const charge = (): Charge => ({
    units: 3,
    isLost: false,
    commit: () => world.commit(),
    giveBack: () => {
      see('charge back')
      return Promise.resolve()
    },
    settle: ({ bytesOut }) => see(`settled ${bytesOut > 0}`),
  })
  const journal = { failure: null as Error | null, charge }
  const clientSubscriptions = new Slots()
  let taken = 0
  const live = {
    journal,
    clientSubscriptions,
    clock: new TestClock(),
    limits: { take: () => world.take((taken += 1)) },
    observer: { notification: ({ requests }: { requests: number }) => see(`observed ${requests}`) },
    subscriptions: {
      join: (_: unknown, __: unknown, ___: unknown, heard: Listener) => {
        listener = heard
        return world.join()
      },
    },
    upstreams: { learnHead: () => true, isBehind: () => false },
    floors: { show: (_: string, __: string, height: number) => see(`floor ${height}`) },
  } as unknown as Live
  const end = {
    notify: (frame: NotificationFrame, id: string) => {
      see(`sent ${/"result":"?(\w+)/.exec(String(frame.with(id)))?.[1] ?? ''}`)
      return world.isSent
    },
    close: (code: number, why: string) => see(`close ${code} ${why}`),
    finish: (code: number, why: string) => see(`finish ${code} ${why}`),
  }
  const plan = { name: 'free', ws: { subscriptions: 20 } }
  const payer = { account: { id: 'acc' }, endpoint: { id: 'ep' } }
  const caller = { network, plan, payer: isPublic ? null : payer, address: 'a' } as unknown as Caller
  const session = new ClientSession(live, new Outbox(), end, () => 3)
  session.caller = caller
  const row = { rule: { match: 'eth_subscribe' } } as never
  const subscribe = (params = '["logs",{}]') =>
    session.subscribe(row, { method: 'eth_subscribe', params }, caller)
  const tell = (result: string, last = false, height: number | null = null): void =>
    listener?.message({ result, height, route: 'r', last })
  const lose = (why: string): void => listener?.lost(why)
  return {
    session,
    world,
    journal,
    grant,
    caller,
    subscribe,
    tell,
    lose,
    held: () => clientSubscriptions.held('eth'),
  }
}

/** A scene with one subscription that the client knows of. */
async function subscribed(t: Test, options = {}) {
  const made = await scene(t, options)
  const answer = await made.subscribe()
  if (answer.kind !== 'result') throw new Error(answer.kind)
  answer.delivered?.(true)
  t.strictSame(made.world.seen.splice(0), ['start'])
  return { ...made, id: answer.result }
}

t.test('a subscription starts when its id has left, and leaves nothing where that fails', async t => {
  const { session, subscribe, world, held } = await scene(t)
  for (const [isSent, after] of [
    [true, 'start'],
    [false, 'leave'],
  ] as const) {
    const answer = await subscribe()
    t.strictSame([answer.kind, world.seen], ['result', []])
    if (answer.kind === 'result') answer.delivered?.(isSent)
    t.strictSame([world.seen.splice(0), held(), session.size], [[after], 1, 1])
  }
  world.join = () => Promise.resolve(refuse('too_many_subscriptions'))
  t.match(await subscribe(), { kind: 'refused', refusal: { reason: 'too_many_subscriptions' } })
  t.strictSame([held(), session.size], [1, 1])
})

t.test('a socket that closes while it subscribes leaves once', async t => {
  const { session, subscribe, world, held } = await scene(t)
  const coming = subscribe()
  session.close()
  const answer = await coming
  if (answer.kind === 'result') answer.delivered?.(false)
  t.strictSame([world.seen, held(), session.size], [['leave'], 0, 0])
})

t.test('its own id ends a subscription, another is unknown', async t => {
  const { session, id, caller, tell, world, held } = await subscribed(t)
  t.strictSame(
    ['["0x1"]', '[]', '{}', 'null', '["0x1",' + id + ']'].map(params => session.holds(params)),
    Array(5).fill(false),
  )
  t.match(session.unsubscribe('["0x1"]', caller), { kind: 'error' })
  t.equal(session.holds(`[ ${id} ]`), true)
  t.strictSame(session.unsubscribe(`[${id}]`, caller), { kind: 'result', result: 'true' })
  tell('1')
  t.match(session.unsubscribe(`[${id}]`, caller), { kind: 'error' })
  t.strictSame([world.seen, held()], [['leave'], 0])
})

t.test('each notification is charged before it leaves, the last one as well', async t => {
  const { tell, world, held } = await subscribed(t)
  let write: (isOnDisk: boolean) => void = () => undefined
  const written = new Promise<boolean>(resolve => (write = resolve))
  world.commit = () => written
  tell('1')
  tell('2', true)
  t.strictSame([world.seen.splice(0), held()], [['leave'], 0])
  write(true)
  await turn()
  t.strictSame(world.seen, ['sent 1', 'observed 3', 'settled true', 'sent 2', 'observed 3', 'settled true'])
  tell('3')
  t.equal(world.seen.length, 6, 'nothing comes behind the last')
})

t.test('a head that a client is shown is remembered, what logs carry is not', async t => {
  for (const [params, floor] of [
    ['["newHeads"]', ['floor 16']],
    ['["logs",{}]', []],
  ] as const) {
    const { subscribe, tell, world } = await scene(t, { isPublic: true })
    const answer = await subscribe(params)
    if (answer.kind === 'result') answer.delivered?.(true)
    tell('1', false, 16)
    tell('2')
    t.strictSame(world.seen, ['start', ...floor, 'sent 1', 'observed 0', 'sent 2', 'observed 0'])
  }
})

t.test('on the public route nothing is charged', async t => {
  const { tell, world } = await subscribed(t, { isPublic: true })
  world.take = () => t.fail('the limits were asked') as never
  tell('1')
  t.strictSame(world.seen, ['sent 1', 'observed 0'])
})

t.test('notifications keep their order whichever limits answer first', async t => {
  const { tell, world, grant } = await subscribed(t)
  const answers: ((taken: Grant) => void)[] = []
  world.take = n => (n === 3 ? grant : new Promise(resolve => (answers[n] = resolve)))
  for (const result of ['1', '2', '3']) tell(result)
  answers[2]!(grant)
  await turn()
  t.strictSame(world.seen, [])
  answers[1]!(grant)
  await turn()
  t.strictSame(
    world.seen.filter(line => line.startsWith('sent')),
    ['sent 1', 'sent 2', 'sent 3'],
  )
})

t.test('what was charged before the quota ended goes out, then the socket ends', async t => {
  for (const [reason, code] of [
    ['quota_exhausted', 1008],
    ['journal_unavailable', 1013],
  ] as const) {
    const { tell, world, journal, grant } = await subscribed(t)
    const written = turn().then(() => true)
    world.commit = () => written
    if (reason === 'quota_exhausted') world.take = n => (n === 1 ? grant : refuse(reason))
    tell('1')
    if (reason === 'journal_unavailable') journal.failure = new Error('no disk')
    tell('2')
    tell('3')
    await turn()
    await turn()
    t.strictSame(world.seen, ['sent 1', 'observed 3', 'settled true', `finish ${code} ${reason}`])
  }
})

t.test('what cannot be recorded or sent costs nothing', async t => {
  const { tell, world } = await subscribed(t)
  world.commit = () => false
  tell('1')
  await turn()
  t.strictSame(world.seen.splice(0), ['close 1013 journal_unavailable', 'grant back', 'charge back'])
  world.commit = () => true
  world.isSent = false
  tell('2')
  await turn()
  t.strictSame(world.seen, ['sent 2', 'grant back', 'charge back'])
})

t.test('a subscription that is lost ends the socket, so that the client starts again', async t => {
  const { lose, world } = await subscribed(t)
  lose('no route has come back')
  t.strictSame(world.seen, ['close 1012 no route has come back'])
})
