import t from 'tap'
import type { Reply } from '../../src/jsonrpc/message.ts'
import { isRefusal } from '../../src/refusal/refusal.ts'
import type { Route } from '../../src/snapshot/types.ts'
import { findCarrier } from '../../src/subscriptions/shared/carrier.ts'
import type { Sought } from '../../src/subscriptions/shared/carrier.ts'
import { Progress } from '../../src/subscriptions/shared/progress.ts'
import type { UpstreamSocket } from '../../src/subscriptions/socket/upstream-socket.ts'

const error = (code: number, message: string): Reply => ({
  kind: 'error',
  error: `"${message}"`,
  code,
  message,
})
type Outcome = Reply | { readonly id: string; readonly complete: boolean } | null

/** Looks for a carrier among routes that answer like this; gives what was found, and what was done on the way. */
async function find(
  outcomes: Readonly<Record<string, Outcome | 'no socket'>>,
  { avoid = [] as readonly string[], isOver = (): boolean => false, params = '["newHeads"]' } = {},
) {
  const did: string[] = []
  const heard: string[] = []
  const progress = new Progress()
  const listeners: ((notification: { readonly result: string }) => void)[] = []
  const socketOf = ({ id }: Route) =>
    ({
      routeId: id,
      progress,
      subscribe: (_: unknown, listener: (typeof listeners)[number]) => {
        did.push(`ask ${id}`)
        listeners.push(listener)
        return Promise.resolve(outcomes[id])
      },
      leave: (upstream: string) => Promise.resolve(void did.push(`leave ${id} ${upstream}`)),
      drop: (why: string) => did.push(`drop ${id}: ${why}`),
      isClosedFor: () => false,
    }) as unknown as UpstreamSocket
  const sought: Sought = {
    method: 'eth_subscribe',
    params,
    family: 'evm',
    unsubscribe: 'eth_unsubscribe',
    names: ['one'] as const,
    own: () => null,
    blamed: 'any' as const,
    isKnown: false,
    setApart: () => undefined,
    heights: { best: () => 100, isPlausible: height => height < 1_000 },
    routes: () => Object.keys(outcomes).map(id => ({ id, errors: [] }) as unknown as Route),
    sockets: {
      get: route =>
        outcomes[route.id] === 'no socket' ? Promise.reject(new Error()) : Promise.resolve(socketOf(route)),
      release: ({ routeId }) => did.push(`release ${routeId}`),
    },
  }
  const tries: string[] = []
  const attempt = (route: string, kind: string) => ({
    traceparent: '',
    ended: (result: string): void => void tries.push(`${route} ${kind} ${result}`),
  })
  const hear = (result: string): void => void heard.push(result)
  const found = await findCarrier(sought, hear, new Set(avoid), isOver, { attempt })
  const what = isRefusal(found)
    ? found.reason
    : 'socket' in found
      ? `on ${found.socket.routeId}`
      : found.message
  return { what, did, heard, tries, progress, tell: (result: string) => listeners.at(-1)?.({ result }) }
}
const taken = { id: '"1"', complete: true }

t.test('each try is recorded, with how it ended', async t => {
  const busy = error(-32005, 'too many requests')
  const dropped = { id: '"2"', complete: false }
  const { what, tries } = await find({ a: 'no socket', b: null, c: dropped, d: busy, e: taken, f: taken })
  t.equal(what, 'on e')
  t.strictSame(tries, [
    'a first unreachable',
    'b retry not_begun',
    'c retry not_begun',
    'd retry limited',
    'e retry ok',
  ])
  t.strictSame((await find({ a: error(-32602, 'no such kind'), b: taken })).tries, ['a first error'])
})

t.test('the first route that takes it carries it; those to avoid come last', async t => {
  t.match(await find({ a: taken, b: taken }), { what: 'on a', did: ['ask a'] })
  t.match(await find({ a: taken, b: taken, c: taken }, { avoid: ['a'] }), { what: 'on b', did: ['ask b'] })
  t.match(await find({ a: taken, b: 'no socket' }, { avoid: ['a'] }), { what: 'on a', did: ['ask a'] })
  t.match(await find({}), { what: 'no_route', did: [] })
  t.match(await find({ a: 'no socket' }), { what: 'no_route', did: [] })
  t.match(await find({ a: taken }, { isOver: () => true }), { what: 'no_route', did: [] })
})

t.test('a socket that breaks, or does not take all of it, is let go of for the next', async t => {
  t.strictSame((await find({ a: null, b: taken })).did, ['ask a', 'release a', 'ask b'])
  const partly = { id: '"7"', complete: false }
  t.match(await find({ a: partly }), { what: 'upstream_error', did: ['ask a', 'leave a "7"', 'release a'] })
})

t.test("a node's error is judged as that of a call", async t => {
  const invalid = error(-32602, 'invalid argument 1')
  const limited = error(-32005, 'daily request count exceeded')
  const unsupported = error(-32601, 'the method eth_subscribe does not exist')
  t.match(await find({ a: invalid, b: taken }), { what: 'invalid argument 1', did: ['ask a', 'release a'] })
  t.match(await find({ a: limited, b: taken }), { what: 'on b' })
  t.match(await find({ a: limited }), { what: 'no_route' })
  t.match(await find({ a: unsupported, b: limited }), {
    what: unsupported.kind === 'error' && unsupported.message,
  })
  t.match(await find({ a: unsupported, b: null }), { what: 'the method eth_subscribe does not exist' })
})

t.test('plausible heads of its messages show how far its socket has come', async t => {
  const head = (number: string): string => `{"number":"${number}"}`
  const { tell, heard, progress } = await find({ a: taken })
  t.equal(progress.look(5), 5)
  tell(head('0x64'))
  tell(head('0xfffff'))
  tell('{}')
  t.equal(progress.look(5), 100)
  t.strictSame(heard, [head('0x64'), head('0xfffff'), '{}'], 'all pass')
  const logs = await find({ a: taken }, { params: '["logs",{}]' })
  t.equal(logs.progress.look(5), 5)
  t.equal(logs.progress.look(6), 6, 'logs are quiet where nothing happens')
})

t.test('a rate that no chain reaches cuts the socket', async t => {
  const { tell, heard, did } = await find({ a: taken })
  for (let i = 0; i < 10_001; i += 1) tell('{}')
  t.equal(heard.length, 10_000)
  t.strictSame(did, ['ask a', 'drop a: a subscription gets more messages than any chain has'])
})
