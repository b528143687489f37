/** Calls of one message on their way to one route: what they count for, and what becomes of them. */
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { Departure } from '../../src/net/departure.ts'
import type { Asked } from '../../src/routes/asked.ts'
import { Batching } from '../../src/routes/batching.ts'
import type { Gathering } from '../../src/routes/gather.ts'
import { LiveRoute } from '../../src/routes/live-route.ts'
import type { Route } from '../../src/snapshot/types.ts'
import { rawItems, rawMember } from '../support/raw-json.ts'

const limits = { timeout: 10_000, holdBack: Infinity, maxBytes: null, departure: null, holder: null }
const now = () => performance.now()

interface Scene {
  readonly batch?: number
  readonly limits?: Route['limits']
  /** What the upstream does with each body. */
  readonly answer?: (body: string, response: ServerResponse) => void
}

/** Answers each call of a body with its params. */
function echoAll(body: string, response: ServerResponse): void {
  const items = body.startsWith('[') ? rawItems(body) : [body]
  const replies = items.map(
    item => `{"id":${rawMember(item, 'id') ?? ''},"result":${rawMember(item, 'params') ?? ''}}`,
  )
  response.end(body.startsWith('[') ? `[${replies.join()}]` : replies[0])
}

/** A route to a server of its own, what arrives there, and calls for it. */
async function scene(
  t: Test,
  { batch = 20, limits: bounds = { inFlight: null, perSecond: null }, answer = echoAll }: Scene,
) {
  const bodies: string[] = []
  const server = createServer((request: IncomingMessage, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => (body += chunk.toString()))
    request.on('end', () => {
      bodies.push(body)
      answer(body, response)
    })
  })
  await new Promise<void>(done => server.listen(0, '127.0.0.1', done))
  const route = {
    id: 'a',
    network: 'eth',
    http: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers: {},
    limits: bounds,
    batch,
    errors: [],
  }
  const live = new LiveRoute(route as unknown as Route, 2_000)
  t.teardown(async () => {
    await live.destroy()
    server.closeAllConnections()
    server.close()
  })
  const ask = (gather: Gathering | null, id: number, more: Partial<Asked> = {}) => {
    const body = `{"jsonrpc":"2.0","id":${id},"method":"eth_call","params":[${id}]}`
    const asked: Asked = {
      body,
      id,
      heavy: false,
      caller: 'one',
      departure: () => null,
      family: 'evm',
      method: 'eth_call',
      params: `[${id}]`,
      isRange: false,
      rows: [],
      isAboutAnother: null,
      flight: null,
      traceparent: null,
      ...more,
    }
    return live.ask(asked, limits, now, gather)
  }
  return { live, bodies, ask }
}

const gathering = (departure: Departure | null = null) => {
  const held = { bytes: 0 }
  const holder = {
    isSpent: false,
    take: (bytes: number) => {
      held.bytes += bytes
      return null
    },
    giveBack: (bytes: number) => {
      held.bytes -= bytes
    },
  }
  return { held, gather: { hold: () => holder, departure: () => departure, gather: null } }
}

t.test('a call counts at its route from when it is gathered until it is over', async t => {
  const { live, ask, bodies } = await scene(t, { limits: { inFlight: 3, perSecond: 3 } })
  const { gather, held } = gathering()
  t.ok(live.limits.fits(now(), 'one'))
  const calls = [1, 2, 3].map(id => ask(gather, id))
  t.equal(live.limits.inFlight, 3)
  t.notOk(live.limits.fits(now(), 'one'))
  t.match(await Promise.all(calls), [{ result: '[1]' }, { result: '[2]' }, { result: '[3]' }])
  t.equal(bodies.length, 1)
  t.equal(live.limits.inFlight, 0)
  t.equal(held.bytes, 0, 'the reply is not held any more')
  t.notOk(live.limits.fits(now(), 'one'), 'three calls were begun in this second')
})

t.test('two calls with the same id do not share a body', async t => {
  const { ask, bodies } = await scene(t, {})
  const { gather } = gathering()
  const answers = await Promise.all([7, 8, 7].map(id => ask(gather, id)))
  t.match(answers, [{ result: '[7]' }, { result: '[8]' }, { result: '[7]' }])
  t.strictSame(bodies.map(body => body.startsWith('[')).sort(), [false, true])
})

t.test('a full body leaves at once, and a call that is alone as a call', async t => {
  const { ask, bodies } = await scene(t, { batch: 2 })
  const { gather } = gathering()
  await Promise.all([1, 2, 3].map(id => ask(gather, id)))
  t.strictSame(bodies.map(body => body.startsWith('[')).sort(), [false, true])
})

t.test('a body says no more of its route than one call does', async t => {
  const { live, ask } = await scene(t, { answer: (_, response) => response.destroy() })
  const { gather } = gathering()
  const calls = await Promise.all([1, 2, 3, 4].map(id => ask(gather, id)))
  for (const call of calls) t.match(call, { kind: 'failure', why: 'reset', fault: true })
  t.strictSame(
    calls.map(call => call.kind === 'failure' && call.detour),
    [false, true, true, true],
    'one retry is taken for all',
  )
  t.equal(live.breaker.state(now(), 'one'), 'closed')
  t.equal(live.breaker.lastError, 'reset')
})

t.test('hanging calls of one body are one hanging call', async t => {
  const { live, ask } = await scene(t, { answer: () => undefined })
  const hanging = () => live.isHanging(now() + 60_000, 'one')
  const bodies = [1, 2].map(() => gathering().gather)
  const calls = bodies.flatMap(gather => [1, 2, 3, 4].map(id => ask(gather, id)))
  await new Promise(setImmediate)
  t.notOk(hanging())
  calls.push(ask(null, 9))
  t.ok(hanging())
  await live.destroy()
  await Promise.all(calls)
})

t.test('a body that waits for a connection ends with its client', async t => {
  const waiting: ServerResponse[] = []
  const { live, ask, bodies } = await scene(t, {
    limits: { inFlight: 1, perSecond: null },
    answer: (body, response) => {
      if (body.includes('[100]')) waiting.push(response)
      else echoAll(body, response)
    },
  })
  const first = ask(null, 100)
  const departure = new Departure()
  const { gather } = gathering(departure)
  const calls = [1, 2].map(id => ask(gather, id))
  await new Promise(setImmediate)
  departure.leave()
  for (const call of await Promise.all(calls))
    t.match(call, { kind: 'failure', why: 'client_left', sent: false })
  waiting[0]!.end('{"id":100,"result":1}')
  t.match(await first, { kind: 'result' })
  t.equal(bodies.length, 1)
  t.equal(live.limits.inFlight, 0)
})

t.test('each call of a body tells those who wait with it that it was sent', async t => {
  const { ask } = await scene(t, {})
  const { gather } = gathering()
  const sent: number[] = []
  await Promise.all([1, 2].map(id => ask(gather, id, { flight: { sent: () => sent.push(id) } })))
  t.strictSame(sent, [1, 2])
})

t.test('what an upstream has refused is forgotten after ten minutes', t => {
  const batching = new Batching(20)
  batching.refuse('one', 1_000)
  t.strictSame([batching.most(600_999, 'one'), batching.most(601_000, 'one')], [1, 20])
  t.end()
})

t.test("a body that an upstream refused is one caller's, unless it refuses one of probes too", async t => {
  const found: (string | null | undefined)[] = [null, 'HTTP 413', undefined, null]
  let probes = 0
  const batching = new Batching(20, () => {
    probes += 1
    return Promise.resolve(found[probes - 1])
  })
  const most = async (now: number) => {
    const at = ['one', 'two', 'three'].map(caller => batching.most(now, caller))
    await new Promise(setImmediate)
    return at
  }
  batching.refuse('one', 0)
  t.strictSame(await most(0), [1, 20, 20])
  t.equal(batching.refusal(0), null)
  batching.refuse('two', 5_000)
  await most(5_000)
  t.strictSame(await most(5_000), [1, 1, 1])
  t.equal(batching.refusal(5_000), 'HTTP 413')
  t.strictSame(await most(10_000), [1, 1, 1], 'the upstream did not say')
  await most(15_000)
  t.strictSame(await most(15_000), [1, 1, 20], 'it takes bodies again')
  t.equal(probes, 4)
})

t.test("the length of one caller's answers does not shorten the bodies of others", t => {
  const batching = new Batching(100)
  batching.learn(100 * 50_000, 100, 'one')
  t.ok(batching.most(0, 'one') < 15)
  t.equal(batching.most(0, 'two'), 100)
  t.end()
})
