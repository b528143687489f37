import t from 'tap'
import { RowTraffic } from '../../../src/call/share/row-traffic.ts'
import type { Decided } from '../../../src/call/decide.ts'
import { coalesce } from '../../../src/call/share/coalesce.ts'
import type { Wish } from '../../../src/call/share/coalesce.ts'
import type { Fetched, Flight } from '../../../src/call/share/flight.ts'
import { Flights } from '../../../src/call/share/flights.ts'
import { scalarRef } from '../../../src/families/block-span.ts'
import type { NoRoom } from '../../../src/limits/byte-budget.ts'
import { Departure } from '../../../src/net/departure.ts'
import { refuse } from '../../../src/refusal/refusal.ts'
import type { Heads } from '../../../src/routes/heads.ts'
import type { MethodRow, Network } from '../../../src/snapshot/types.ts'
import { TestClock } from '../../support/test-clock.ts'
import { until } from '../../support/until.ts'

/** Rows, each one object as in a snapshot. */
const rule = { share: true, retry: 'safe', sticky: null, cache: [], shows: null, timeout: 'fast' }
const rows = {
  eth_call: { rule: { ...rule, block: { at: 1, kind: 'ref' } } },
  receipt: { rule: { ...rule, block: { at: 0, kind: 'txhash' }, shows: ['blockNumber'] } },
  gasPrice: { rule: { ...rule, block: null } },
  sha3: { rule: { ...rule, block: null, cache: ['fixed'] } },
  send: { rule: { ...rule, block: null, retry: 'dedupe' } },
  never: { rule: { ...rule, block: null, retry: 'never' } },
  filter: { rule: { ...rule, block: null, sticky: 'use' } },
  off: { rule: { ...rule, block: null, share: false } },
  heavy: { rule: { ...rule, block: null, timeout: 'heavy' } },
} as unknown as Readonly<Record<string, MethodRow>>

interface Options {
  readonly row?: keyof typeof rows
  readonly method?: string
  /** As it stands in the params. */
  readonly block?: string
  readonly params?: string
  readonly floor?: number | null
  readonly prefer?: readonly string[]
  readonly caller?: string
  readonly reader?: string
  readonly departure?: Departure | null
  readonly network?: Partial<Network>
  readonly freshness?: 'no-cache'
  readonly maxBytes?: number
  readonly noRoom?: NoRoom
}

/** What came of a call that was sent. */
const came = (answer: Fetched['answer'], isOwn = false): Fetched => {
  const route = answer.kind === 'refused' ? null : 'a'
  return { answer, route, tried: 'a', isOwn }
}
const ok = (result: string): Fetched => came({ kind: 'result', result })
const down = came({ kind: 'refused', refusal: refuse('upstream_error') })
const own = came({ kind: 'refused', refusal: refuse('overloaded') }, true)

/** What came of one of several calls. */
interface Coalesced extends Fetched {
  readonly isShared: boolean
}

/** Calls of one process, by a clock of the test. */
function process() {
  const clock = new TestClock()
  const heads = { best: () => 100, finality: { of: () => null } } as unknown as Pick<
    Heads,
    'best' | 'finality'
  >
  /** By reader, when a route took its last transaction; and by caller, the routes that one alone is sent to in place of `a`. */
  const wroteAt = new Map<string, number>()
  const keptTo = new Map<string, readonly string[]>()
  const upstreams = {
    unsupported: { among: () => [] },
    contenders: (_: unknown, __: unknown, ___: unknown, ____: unknown, caller = '') =>
      (keptTo.get(caller) ?? ['a']).map(id => ({ route: { id } })) as never,
  }
  const sentBy = { lastAt: (_: string, reader: string) => wroteAt.get(reader) ?? -Infinity }
  const live = { flights: new Flights(), heads: heads as Heads, clock, sent: sentBy, upstreams }
  /** Those that were sent, and are answered by the test. */
  const sent: {
    flight: Flight | null
    until: number | null
    end: (fetched: Fetched) => void
    fail: () => void
  }[] = []
  const call = async (options: Options = {}, isSent = true): Promise<Coalesced> => {
    const { row = 'gasPrice', block, floor = null, caller = 'one', departure = null, noRoom = null } = options
    const { reader = caller } = options
    const ref = block === undefined ? null : scalarRef(block, true)
    const span = ref === null || 'why' in ref ? null : { from: ref, to: ref }
    const params = options.params ?? `["0x1",${block ?? ''}]`
    const trail = { shared: false }
    const wish: Wish = {
      call: {
        row: rows[row]!,
        method: options.method ?? row,
        params,
        span,
        routes: [],
      } as unknown as Decided,
      network: { slug: 'alpha', family: 'evm', share: true, ...options.network } as Network,
      wants: null,
      compacted: null,
      caller,
      reader,
      departure: () => departure,
      trail,
      freshness: options.freshness,
      need: { tip: true, atLeast: floor, mayProbe: true, prefer: options.prefer ?? [] },
      mode: {
        maxBytes: options.maxBytes ?? null,
        holder: { isSpent: false, take: () => noRoom, giveBack: () => undefined },
      },
    }
    const send = (flight: Flight | null, until: number | null): Promise<Fetched> =>
      new Promise((end, reject) => {
        sent.push({ flight, until, end, fail: () => reject(new Error('a bug')) })
        if (isSent) flight?.sent(clock.monotonic(), (keptTo.get(caller) ?? ['a'])[0]!)
      })
    const fetched = await coalesce(wish, { send, conclude: each => each }, live)
    return { ...fetched, isShared: trail.shared }
  }
  /** Resolves when so many have been sent. */
  const sending = (count: number): Promise<unknown> =>
    until(`${count} are sent`, () => Promise.resolve(sent.length === count))
  return { call, sent, sending, clock, wroteAt, keptTo }
}

const said = ({ answer, isShared }: Coalesced): string => {
  const what =
    answer.kind === 'result' ? answer.result : answer.kind === 'refused' ? answer.refusal.reason : answer.kind
  return isShared ? `${what} shared` : what
}

t.test('equal calls are one, others are not', async t => {
  const different: readonly (readonly [Options, Options])[] = [
    [{ params: '["a"]' }, { params: '["A"]' }],
    [{ params: '[true]' }, { params: '["true"]' }],
    [{ params: '["a","b"]' }, { params: '[["a","b"]]' }],
    [{ params: `["${'a'.repeat(200)}"]` }, { params: `["${'a'.repeat(99)}b${'a'.repeat(100)}"]` }],
    [{ method: 'x' }, { method: 'y' }],
    [
      { row: 'gasPrice', method: 'x' },
      { row: 'heavy', method: 'x' },
    ],
    ...(['send', 'never', 'filter', 'off'] as const).map(row => [{ row }, { row }] as const),
    [{ network: { share: false } }, { network: { share: false } }],
    [{}, { freshness: 'no-cache' }],
    [{ freshness: 'no-cache' }, {}],
    [{ params: `["${'a'.repeat(16_384)}"]` }, { params: `["${'a'.repeat(16_384)}"]` }],
  ]
  for (const [a, b] of different) {
    const { call, sent } = process()
    void call(a)
    void call(b)
    t.equal(sent.length, 2, JSON.stringify([a, b]).slice(0, 80))
  }
  const { call, sent } = process()
  const calls = [
    call({ params: '["a", {"b" : 1}]' }),
    call({ params: '["a",{"b":1}]' }),
    call({ params: '[ "a",{"b":1} ]' }),
  ]
  t.equal(sent.length, 1, 'white space makes no difference')
  sent[0]!.end(ok('1'))
  t.strictSame((await Promise.all(calls)).map(said), ['1', '1 shared', '1 shared'])
  void call({ params: '["a",{"b":1}]' })
  t.equal(sent.length, 2, 'what is over is not joined')
})

t.test(
  'a call about a block that moves joins within 20 ms of the first send, others as long as it takes',
  t => {
    const cases: readonly (readonly [options: Options, ms: number, sent: number])[] = [
      [{ row: 'gasPrice' }, 5, 1],
      [{ row: 'gasPrice' }, 20, 1],
      [{ row: 'gasPrice' }, 50, 2],
      [{ row: 'eth_call', block: '"latest"' }, 5, 1],
      [{ row: 'eth_call', block: '"latest"' }, 50, 2],
      [{ row: 'eth_call', block: '"pending"' }, 50, 2],
      [{ row: 'eth_call', block: '"0x64"' }, 5_000, 1],
      [{ row: 'eth_call', block: '"0x65"' }, 50, 2],
      [{ row: 'eth_call', block: `"0x${'a'.repeat(64)}"` }, 5_000, 1],
      [{ row: 'receipt', block: `"0x${'a'.repeat(64)}"` }, 5_000, 1],
      [{ row: 'sha3' }, 5_000, 1],
    ]
    for (const [options, ms, count] of cases) {
      const { call, sent, clock } = process()
      void call(options)
      clock.advance(ms)
      void call(options)
      t.equal(sent.length, count, `${options.row} ${options.block} after ${ms} ms`)
      void call(options)
      t.equal(sent.length, count, 'and the next one has one to join')
    }
    const { call, sent, clock } = process()
    void call({}, false)
    clock.advance(500)
    void call()
    t.equal(sent.length, 1, 'the time begins when it is sent, not while it waits for a connection')
    void call({ caller: 'two' })
    t.equal(sent.length, 2, "and another caller does not wait for the first one's turn")
    t.end()
  },
)

t.test('who has joined late takes only what was there when the flight began', async t => {
  const hash = `"0x${'a'.repeat(64)}"`
  const cases: readonly (readonly [row: string, fetched: Fetched, isTaken: boolean])[] = [
    ['receipt', ok('{"blockNumber":"0x1"}'), true],
    ['receipt', ok('{"blockNumber":null}'), false],
    ['receipt', ok('null'), false],
    ['receipt', came({ kind: 'error', error: '{}' }), false],
    ['eth_call', ok('"0x"'), true],
    ['eth_call', ok('null'), false],
  ]
  for (const [row, fetched, isTaken] of cases) {
    const { call, sent, sending, clock } = process()
    void call({ row, block: hash })
    const early = call({ row, block: hash })
    clock.advance(21)
    const late = call({ row, block: hash })
    sent[0]!.end(fetched)
    t.equal((await early).answer, fetched.answer, 'who has joined at once takes it as it is')
    if (!isTaken) {
      await sending(2)
      sent[1]!.end(ok('"later"'))
    }
    t.equal(
      said(await late),
      isTaken ? said({ ...fetched, isShared: true }) : '"later"',
      `${row} ${said({ ...fetched, isShared: false })}`,
    )
  }
})

t.test('a reader is not shown less than before', t => {
  const cases: readonly (readonly [leader: number | null, joiner: number | null, sent: number])[] = [
    [null, null, 1],
    [7, null, 1],
    [7, 7, 1],
    [7, 8, 2],
    [null, 7, 2],
  ]
  for (const [leader, joiner, count] of cases) {
    const { call, sent } = process()
    void call({ floor: leader })
    void call({ floor: joiner })
    t.equal(sent.length, count, `${leader} ${joiner}`)
    void call({ floor: joiner })
    t.equal(sent.length, count, 'the flight of the higher floor is the one to join')
  }
  t.end()
})

t.test('who is to ask the route that took its transaction joins nobody who does not', t => {
  const cases: readonly (readonly [leader: readonly string[], joiner: readonly string[], sent: number])[] = [
    [['a'], [], 1],
    [['a'], ['a'], 1],
    [[], ['a'], 2],
    [['a'], ['b'], 2],
    [['a'], ['a', 'b'], 1],
    [['a', 'b'], ['b'], 2],
  ]
  for (const [leader, joiner, count] of cases) {
    const { call, sent } = process()
    void call({ prefer: leader })
    void call({ prefer: joiner })
    t.equal(sent.length, count, `${leader.join()} ${joiner.join()}`)
  }
  t.end()
})

t.test('a flight that failed is tried once more, by one of those who waited', async t => {
  const { call, sent, sending, clock } = process()
  const calls = Array.from({ length: 5 }, () => call())
  clock.advance(1_000)
  sent[0]!.end(down)
  await sending(2)
  t.equal(sent[1]!.until, 16_000, 'its time is counted from when it came')
  sent[1]!.end(ok('1'))
  t.strictSame((await Promise.all(calls)).map(said), ['upstream_error', '1', ...Array(3).fill('1 shared')])
})

t.test('a second failure is for all, so that no herd falls on what is broken', async t => {
  const { call, sent, sending } = process()
  const calls = Array.from({ length: 5 }, () => call())
  sent[0]!.end(down)
  await sending(2)
  sent[1]!.end(down)
  const refusals = ['upstream_error', 'upstream_error', ...Array(3).fill('upstream_error shared')]
  t.strictSame((await Promise.all(calls)).map(said), refusals)
  t.equal(sent.length, 2)
})

t.test("a refusal for want of the leader's own is nobody else's", async t => {
  const { call, sent, sending } = process()
  const calls = Array.from({ length: 4 }, () => call())
  sent[0]!.end(own)
  await sending(2)
  sent[1]!.end(own)
  await sending(4)
  t.strictSame([sent[2]!.flight, sent[3]!.flight], [null, null], 'after two of them, each goes alone')
  for (const each of sent.slice(2)) each.end(ok('1'))
  t.strictSame((await Promise.all(calls)).map(said), ['overloaded', 'overloaded', '1', '1'])
})

t.test('a leader that breaks leaves nobody behind', async t => {
  const { call, sent, sending } = process()
  const leader = call()
  const joiner = call()
  sent[0]!.fail()
  await t.rejects(leader, { message: 'a bug' })
  await sending(2)
  sent[1]!.end(ok('1'))
  t.equal(said(await joiner), '1')
})

t.test('who has waited for as long as a call may take is refused', async t => {
  const { call, sent, clock } = process()
  for (const fetched of [down, own]) {
    void call()
    const joiner = call()
    clock.advance(15_000)
    sent.at(-1)!.end(fetched)
    t.equal(said(await joiner), fetched === down ? 'upstream_error shared' : 'upstream_timeout shared')
  }
  t.equal(sent.length, 2)
})

t.test('what is too long to be shared, or finds no room, is fetched by each', async t => {
  const long = ok(`"${'x'.repeat(256 * 1024)}"`)
  const streamed = came({ kind: 'stream', member: 'result', body: null as never })
  for (const [fetched, options] of [
    [long, {}],
    [streamed, {}],
    [ok('"12345"'), { maxBytes: 100 }],
    [ok('"12345"'), { noRoom: 'no_room' }],
  ] as readonly (readonly [Fetched, Options])[]) {
    const { call, sent, sending } = process()
    void call()
    const joiners = [call(options), call(options)]
    sent[0]!.end(fetched)
    await sending(3)
    t.strictSame([sent[1]!.flight, sent[2]!.flight], [null, null])
    for (const each of sent.slice(1)) each.end(ok('1'))
    t.strictSame((await Promise.all(joiners)).map(said), ['1', '1'])
  }
})

t.test('4 096 wait for one flight, and the next call begins another', async t => {
  const { call, sent } = process()
  const calls = Array.from({ length: 4_100 }, () => call())
  t.equal(sent.length, 2)
  for (const each of sent) each.end(ok('1'))
  t.equal((await Promise.all(calls)).filter(({ isShared }) => isShared).length, 4_098)
})

t.test('of those who wait 256 are answered in one turn of the event loop', async t => {
  const { call, sent } = process()
  let answered = 0
  const calls = Array.from({ length: 601 }, async () => {
    await call()
    answered += 1
  })
  sent[0]!.end(ok('1'))
  const seen: number[] = []
  while (answered < 601) {
    await new Promise(resolve => setImmediate(resolve))
    seen.push(answered)
  }
  t.strictSame(seen.slice(-3), [257, 513, 601])
  await Promise.all(calls)
})

t.test('who leaves while others are answered is let go once', async t => {
  const { call, sent } = process()
  const departure = new Departure()
  const calls = Array.from({ length: 300 }, () => call())
  const last = call({ departure })
  const over = sent[0]!.flight!.departure()
  sent[0]!.end(ok('1'))
  await calls[1]
  departure.leave()
  t.equal(said(await last), '1 shared')
  t.strictSame(new Set((await Promise.all(calls)).map(said)), new Set(['1', '1 shared']))
  t.equal(over.isOver, false)
})

t.test('a row whose replies are mostly too long is not waited for until they are shorter', async t => {
  const { call, sent } = process()
  const streamed = came({ kind: 'stream', member: 'result', body: null as never })
  let n = 0
  const replies = async (count: number, fetched: Fetched): Promise<void> => {
    for (let left = count; left > 0; left -= 1) {
      const done = call({ params: `[${(n += 1)}]` })
      sent.at(-1)!.end(fetched)
      await done
    }
  }
  const sentOfTwo = (row: keyof typeof rows = 'gasPrice'): number => {
    const before = sent.length
    const params = `[${(n += 1)}]`
    void call({ row, params })
    void call({ row, params })
    return sent.length - before
  }
  await replies(5, streamed)
  t.equal(sentOfTwo(), 1, 'a few long ones change nothing')
  await replies(5, down)
  await replies(1, streamed)
  t.equal(sentOfTwo(), 2)
  t.equal(sentOfTwo('heavy'), 1, 'of another row nothing is known')
  await replies(1, ok(`"${'x'.repeat(256 * 1024)}"`))
  await replies(5, down)
  t.equal(sentOfTwo(), 2, 'a refusal says nothing of the length')
  await replies(2, ok('1'))
  t.equal(sentOfTwo(), 1)
})

t.test(
  'nobody makes others search for long: of many flights that look alike some are not shared',
  async t => {
    const { call, sent } = process()
    // They differ where the hash does not look.
    const alike = (n: number): Options => ({
      params: `["${String(n).padStart(2, '0')}${'a'.repeat(3_000)}"]`,
    })
    for (let n = 10; n < 40; n += 1) void call(alike(n))
    t.equal(sent.filter(({ flight }) => flight !== null).length, 16)
    void call(alike(10))
    t.equal(sent.length, 30)
    for (const each of sent.slice(0, 16)) each.end(ok('1'))
    await until('there is room', () => {
      void call(alike(41))
      return Promise.resolve(sent.at(-1)!.flight !== null)
    })
  },
)

t.test('bug: who has written since a call was sent does not wait for it', async t => {
  const { call, sent, clock, wroteAt } = process()
  const first = call({ reader: 'mine' })
  clock.advance(5)
  wroteAt.set('mine', clock.monotonic())
  clock.advance(5)
  const [own, others] = [call({ reader: 'mine' }), call({ reader: 'other' })]
  t.equal(sent.length, 2, 'within the 20 ms, but before its transaction')
  sent[0]!.end(ok('old'))
  sent[1]!.end(ok('new'))
  t.equal(said(await own), 'new')
  t.match(said(await others), /shared$/, 'another reader still waits')
  t.equal(said(await first), 'old')
})

t.test("bug: who is kept away from a route takes no other caller's calls elsewhere", async t => {
  const { call, sent, keptTo } = process()
  keptTo.set('evil', ['b'])
  const first = call({ caller: 'evil' })
  const honest = [call({ caller: 'one' }), call({ caller: 'two' })]
  const own = call({ caller: 'evil' })
  t.equal(sent.length, 2, 'they share a call of their own')
  sent[0]!.end(ok('worse'))
  sent[1]!.end(ok('better'))
  t.strictSame((await Promise.all(honest)).map(said), ['better', 'better shared'])
  t.match(said(await own), /shared$/)
  t.equal(said(await first), 'worse')

  const all = process()
  const before = all.call({ caller: 'one' })
  for (const caller of ['one', 'two']) all.keptTo.set(caller, ['b'])
  const after = all.call({ caller: 'two' })
  t.equal(all.sent.length, 1, 'what keeps everybody away keeps nobody from waiting')
  all.sent[0]!.end(ok('1'))
  t.strictSame((await Promise.all([before, after])).map(said), ['1', '1 shared'])
})

t.test('a flight ends when nobody waits for it any more, and not before', async t => {
  const { call, sent } = process()
  const clients = [1, 2, 3, 4].map(() => new Departure())
  const calls = clients.slice(0, 3).map(departure => call({ row: 'heavy', departure }))
  const over = sent[0]!.flight!.departure()
  calls.push(call({ row: 'heavy', departure: clients[3]! }))
  clients[1]!.leave()
  t.equal(said(await calls[1]!), 'abandoned shared', 'a joiner leaves at once')
  clients[0]!.leave()
  clients[2]!.leave()
  t.equal(said(await calls[2]!), 'abandoned shared')
  t.equal(over.isOver, false, 'one still waits')
  clients[3]!.leave()
  t.equal(over.isOver, true)
  t.equal(said(await calls[3]!), 'abandoned shared')
  void call({ row: 'heavy' })
  t.equal(sent.length, 2, 'what is over is not joined')
  sent[0]!.end(came({ kind: 'abandoned' }))
  t.equal(said(await calls[0]!), 'abandoned')
})

t.test('of a flight that was never asked for its client nobody is watched until somebody asks', async t => {
  const { call, sent } = process()
  const [a, b] = [new Departure(), new Departure()]
  void call({ departure: a })
  const joiner = call({ departure: b })
  a.leave()
  b.leave()
  t.equal(sent[0]!.flight!.departure().isOver, true)
  t.equal(said(await joiner), 'abandoned shared')
})

t.test('who leaves a call that was not sent is not charged for it', async t => {
  const { call, sent } = process()
  const departure = new Departure()
  void call({}, false)
  const joiner = call({ departure })
  sent[0]!.flight!.departure()
  departure.leave()
  t.equal(said(await joiner), 'overloaded shared')
})

t.test('long replies of one caller do not end sharing for others', t => {
  const traffic = new RowTraffic()
  const learn = (caller: string, isLong: boolean) => {
    for (let i = 0; i < 20; i += 1) traffic.learn(isLong, caller)
  }
  const mostly = () => ['long', 'short', 'new'].map(caller => traffic.isMostlyLong(caller))
  learn('long', true)
  t.strictSame(mostly(), [true, true, true], 'as long as nobody else was answered')
  learn('short', false)
  t.strictSame(mostly(), [true, false, false])
  learn('other', true)
  t.strictSame(mostly(), [true, false, true], 'for who is not known most callers decide')
  for (let i = 0; i < 8; i += 1) learn(`caller ${i}`, false)
  t.strictSame(mostly(), [false, false, false], 'the oldest of eight makes room')
  t.end()
})
