import t from 'tap'
import type { Context, Live } from '../../src/call/context.ts'
import { needOf, note } from '../../src/call/execute.ts'
import { forwarded } from '../../src/call/node/forward.ts'
import type { Ending } from '../../src/call/node/forward.ts'
import type { BlockSpan } from '../../src/families/block-span.ts'
import type { RouteNeed } from '../../src/families/route-need.ts'
import { refuse } from '../../src/refusal/refusal.ts'
import { Floors } from '../../src/routes/floors.ts'
import { Heads } from '../../src/routes/heads.ts'
import { Upstreams } from '../../src/routes/upstreams.ts'
import { failure } from '../../src/routes/transport/verdict.ts'
import type { Failure } from '../../src/routes/transport/verdict.ts'
import type { Network, Rule } from '../../src/snapshot/types.ts'

const safe = { retry: 'safe' } as Rule
const at = (number: number): BlockSpan =>
  ({ from: null, to: { kind: 'number', number } }) as unknown as BlockSpan
const tagged = (tag: string): BlockSpan => ({ from: null, to: { kind: 'tag', tag } }) as unknown as BlockSpan

t.test('a call about a block needs that block, any other the newest that its reader was shown', t => {
  t.strictSame(needOf(safe, at(7), 9), { tip: false, atLeast: 7, mayProbe: true })
  t.strictSame(needOf(safe, at(0), 9), { tip: false, atLeast: 0, mayProbe: true })
  t.strictSame(needOf(safe, tagged('latest'), 9), { tip: true, atLeast: 9, mayProbe: true })
  t.strictSame(needOf(safe, tagged('earliest'), 9), { tip: false, atLeast: null, mayProbe: true })
  t.strictSame(needOf(safe, null, 9), { tip: true, atLeast: 9, mayProbe: true }, 'prices, the pool, sending')
  t.strictSame(needOf(safe, null, null), { tip: true, atLeast: null, mayProbe: true })
  for (const retry of ['dedupe', 'never'] as const)
    t.equal(
      needOf({ ...safe, retry }, null, null).mayProbe,
      false,
      'a route is not tried out with a transaction',
    )
  t.end()
})

t.test('on Solana the highest of what a call names counts, on its own scale', t => {
  const slots = (slot: number | null) => ({ slot, scale: 'confirmed', prefer: ['a'] }) as unknown as RouteNeed
  const need = (span: BlockSpan, floor: number | null, slot: number | null): unknown => {
    const { tip, atLeast, scale, prefer } = needOf(safe, span, floor, slots(slot))
    t.strictSame([scale, prefer], ['confirmed', ['a']])
    return [tip, atLeast]
  }
  t.strictSame(need(null, 5, 9), [true, 9])
  t.strictSame(need(null, 9, 5), [true, 9])
  t.strictSame(need(null, null, null), [true, null])
  t.strictSame(need(at(7), 9, 5), [false, 7], 'what it was shown of the tip is no matter for an old slot')
  t.strictSame(need(at(5), null, 7), [false, 7])
  t.strictSame(need(at(0), null, null), [false, 0])
  t.end()
})

/** What a client gets when the attempts ended like this. */
function told(failures: readonly Failure[], closed = false): string {
  const context = { live: { upstreams: { closed } } } as unknown as Context
  const { answer, route } = forwarded({ kind: 'failed', failures, route: 'a' }, context)
  if (route !== null) return `from ${route}`
  return answer.kind === 'refused'
    ? answer.refusal.reason
    : answer.kind === 'error'
      ? answer.error
      : answer.kind
}
const said = (error: string): Failure => ({
  ...failure('missing', refuse('upstream_error'), false),
  passOn: true,
  said: { kind: 'error', error, code: 1, message: '' },
})
const down = failure('unreachable', refuse('no_route'), true)

t.test("a node's last word about the call is worth more than that a later route was down", t => {
  t.equal(told([]), 'no_route')
  t.equal(told([down, failure('timeout', refuse('upstream_timeout'), true)]), 'upstream_timeout')
  t.equal(told([said('"a"'), down]), '"a"')
  t.equal(told([said('"a"'), said('"b"'), down]), '"b"')
  t.equal(told([{ ...said('"a"'), passOn: false }, down]), 'no_route', "a vendor's words stay here")
  t.equal(told([said('"a"')], true), 'no_route', 'while we close, what we made of it')
  t.end()
})

t.test('other ends: an answer with its route, no room, a client that left', t => {
  const context = {} as Context
  const verdict = { kind: 'result', result: '1' } as const
  const tried = { verdict, candidate: { route: { id: 'a' } } }
  t.strictSame(forwarded({ kind: 'answered', verdict, tried } as unknown as Ending, context), {
    answer: verdict,
    route: 'a',
  })
  const open = { kind: 'open', member: 'result', body: {} }
  t.match(forwarded({ kind: 'answered', verdict: open, tried } as unknown as Ending, context), {
    answer: { kind: 'stream' },
  })
  t.match(forwarded({ kind: 'full' }, context), {
    answer: { refusal: { reason: 'overloaded' } },
    route: null,
  })
  t.strictSame(forwarded({ kind: 'abandoned', route: 'a' }, context), {
    answer: { kind: 'abandoned' },
    route: null,
  })
  t.end()
})

t.test('a height is shown to its reader unless the route that gave it is not believed', t => {
  const shown: unknown[] = []
  const network = { slug: 'eth' } as Network
  const live = (isBelieved: boolean) =>
    ({
      floors: { show: (...all: unknown[]) => shown.push(all) },
      upstreams: { learnHead: () => isBelieved, isBehind: (_: unknown, height: number) => height < 7 },
      clock: { monotonic: () => 0 },
    }) as unknown as Live
  note({ network, reader: 'r', route: 'a' }, 'head', 7, live(true))
  note({ network, reader: 'r', route: 'a' }, 'head', 8, live(false))
  note({ network, reader: 'r', route: null }, 'head', 9, live(true))
  note({ network, reader: 'r', route: 'a' }, 'head', 6, live(true))
  t.strictSame(shown, [
    ['r', 'eth', 7, 'head', 'a'],
    ['r', 'eth', 9, 'head', null],
  ])
  t.end()
})

t.test('bug: of a kept answer a block was believed to which no node can have come', t => {
  const network = {
    slug: 'eth',
    family: 'evm',
    maxLag: { unit: 'blocks', value: 2 },
    routes: [],
  } as unknown as Network
  const heads = new Heads()
  heads.takeTip(
    'eth',
    { head: 1_000, blockTime: 12_000, anchor: { height: 1_000, ago: 0 }, agreement: null },
    0,
  )
  const floors = new Floors(() => 0)
  const live = { floors, upstreams: new Upstreams(heads), clock: { monotonic: () => 0 } } as unknown as Live
  note({ network, reader: 'r', route: null }, 'head', 1_001, live)
  t.equal(floors.of('r', 'eth'), 1_001)
  note({ network, reader: 'r', route: null }, 'head', 0xffffffffff, live)
  t.equal(floors.of('r', 'eth'), 1_001, 'no route would be known to have come there, so any could be asked')
  t.end()
})
