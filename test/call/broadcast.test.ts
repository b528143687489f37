import { keccak256 } from 'ethers'
import t from 'tap'
import type { Context } from '../../src/call/context.ts'
import { broadcast, spreadOf } from '../../src/call/node/broadcast.ts'
import type { Request } from '../../src/call/node/request.ts'
import { Departure } from '../../src/net/departure.ts'
import { refuse } from '../../src/refusal/refusal.ts'
import type { Asked } from '../../src/routes/asked.ts'
import type { Candidate } from '../../src/routes/pick.ts'
import type { SentNews } from '../../src/routes/sent.ts'
import { failure } from '../../src/routes/transport/verdict.ts'
import type { Failure, Verdict } from '../../src/routes/transport/verdict.ts'
import { TestClock } from '../support/test-clock.ts'

const hash = keccak256('0x02').slice(2)
const result: Verdict = { kind: 'result', result: `"0x${hash}"` }
const error = (message: string): Verdict => ({ kind: 'error', error: `"${message}"`, code: -32000, message })
const failed = (why: string, more: Partial<Failure> = {}): Failure => ({
  ...failure(why, refuse('upstream_error'), true),
  ...more,
})
const limited = failed('limited', { complaint: { about: 'limited', asked: 0, from: 'text' } })

const rule = { retry: 'dedupe', broadcast: 3, timeout: 'normal', block: null, match: 'send', sends: true }
const request = {
  network: { slug: 'alpha', family: 'evm', broadcast: 1 },
  row: { rule },
  method: 'eth_sendRawTransaction',
  params: '["0x02"]',
  elements: ['"0x02"'],
  caller: 'a',
  reader: 'r',
  routes: [],
  takers: [],
  span: null,
  need: {},
  trace: null,
} as unknown as Request
const options = {
  kind: 'first' as const,
  left: 1_000,
  mode: { stream: true, maxBytes: null, holder: null, cached: null, gather: null },
  sentBefore: false,
  departure: null,
}

/** Three routes whose answers the test gives, and what becomes of the call that is sent to them. */
function scene({ room = true } = {}) {
  const asked: Asked[] = []
  const answers: ((verdict: Verdict) => void)[] = []
  const faults: ((error: Error) => void)[] = []
  const candidates = ['a', 'b', 'c'].map(id => {
    const live = {
      ask: (call: Asked) =>
        new Promise<Verdict>((resolve, reject) => {
          asked.push(call)
          answers.push(resolve)
          faults.push(reject)
        }),
    }
    return { route: { id, timeout: null, errors: [] }, live } as unknown as Candidate
  })
  const seen = {
    taken: [] as string[],
    attempts: [] as string[],
    bugs: [] as unknown[],
    held: 0,
    released: 0,
  }
  const client = new Departure()
  const context = {
    live: {
      observer: {
        attempt: ({ route, result: how }: { route: string; result: string }) =>
          seen.attempts.push(`${route} ${how}`),
        bug: (bug: unknown) => seen.bugs.push(bug),
      },
      upstreams: { unsupported: { take: () => undefined } },
      sent: {
        add: (news: SentNews) => seen.taken.push(`${news.route} ${news.reader} ${news.hash === hash}`),
      },
      clock: new TestClock(),
    },
    departure: () => client,
    holder: {
      apart: () => ({
        take: (bytes: number) => {
          seen.held += bytes
          return room ? null : 'no_room'
        },
        release: () => (seen.released += 1),
      }),
    },
    payer: null,
    requestId: 'x',
  } as unknown as Context
  const [first, ...others] = candidates
  const ended = broadcast(first!, request, options, context, most => others.slice(0, most))
  return { asked, answers, faults, seen, client, ended }
}

/** What the call comes to with these three verdicts, given from the last route to the first. */
async function word(...verdicts: readonly Verdict[]): Promise<string> {
  const { answers, ended } = scene()
  for (const [n, answer] of [...answers.entries()].reverse()) answer(verdicts[n]!)
  const { verdict, candidate } = await ended
  const what =
    verdict.kind === 'failure' ? verdict.why : verdict.kind === 'error' ? verdict.message : verdict.kind
  return `${candidate.route.id}: ${what}`
}

t.test('only rows that may be sent again are, as often as they or their network say', t => {
  t.equal(spreadOf({ broadcast: 3 }, { retry: 'dedupe', broadcast: null }), 3)
  t.equal(spreadOf({ broadcast: 3 }, { retry: 'dedupe', broadcast: 1 }), 1)
  t.equal(spreadOf({ broadcast: 1 }, { retry: 'dedupe', broadcast: 2 }), 2)
  t.equal(spreadOf({ broadcast: 3 }, { retry: 'safe', broadcast: null }), 1)
  t.equal(spreadOf({ broadcast: 3 }, { retry: 'never', broadcast: 2 }), 1)
  t.end()
})

t.test(
  'of those that do not take it, an error about the call is heard first, then whoever may have it',
  async t => {
    t.equal(await word(error('one'), error('two'), error('three')), 'a: one')
    t.equal(await word(failed('timeout'), error('two'), error('three')), 'b: two')
    t.equal(await word(limited, failed('timeout'), limited), 'b: timeout', 'what comes next is a repetition')
    t.equal(await word(limited, failed('unreachable', { sent: false }), limited), 'a: limited')
    const lacking = failed('unsupported', { passOn: true, said: error('no such method') as never })
    t.equal(await word(limited, lacking, limited), 'b: unsupported')
    t.equal(await word(failed('timeout'), error('two'), result), 'c: result')
    const other: Verdict = { kind: 'result', result: `"0x${'ab'.repeat(32)}"` }
    t.equal(
      await word(failed('timeout'), error('two'), other),
      'c: result',
      'another hash is better than none',
    )
    t.equal(await word({ kind: 'result', result: 'null' }, error('two'), other), 'c: result')
  },
)

t.test(
  'the first that takes it answers, all that do are remembered, and late ones are known as such',
  async t => {
    const { asked, answers, ended, seen } = scene()
    t.ok(asked.every(({ isLate }) => isLate?.() === false))
    t.strictSame(new Set(asked.map(({ id }) => id)).size, 3, 'each under an id of its own')
    answers[1]!(result)
    t.equal((await ended).candidate.route.id, 'b')
    t.ok(asked.every(({ isLate }) => isLate?.() === true))
    t.ok(asked[0]!.departure()!.isOver, 'what waits for a connection need not be sent any more')
    answers[0]!(result)
    answers[2]!(failed('client_left', { sent: false }))
    await new Promise(resolve => setImmediate(resolve))
    t.strictSame(seen.taken, ['b r true', 'a r true'])
    t.strictSame(seen.attempts, ['b ok', 'a ok', 'c unneeded'])
    t.strictSame([seen.held, seen.released], [24, 1], 'its bytes are held as long as any of them is sent')
  },
)

t.test('what waits for a connection ends with its client, what is sent does not', async t => {
  const { asked, answers, ended, client } = scene()
  client.leave()
  await new Promise(resolve => setImmediate(resolve))
  t.ok(asked.every(({ departure }) => departure()!.isOver))
  t.ok(asked.every(({ isLate }) => isLate?.() === false))
  answers[2]!(result)
  t.equal((await ended).candidate.route.id, 'c')
})

t.test('without room for more it goes to one', async t => {
  const { asked, answers, ended, seen } = scene({ room: false })
  t.equal(asked.length, 1)
  t.equal(seen.released, 1)
  answers[0]!(error('already known'))
  t.match(await ended, { verdict: { message: 'already known' } }, "a single first try keeps the node's words")
})

t.test('a bug is the answer while there is none, and reported behind one', async t => {
  const early = scene()
  early.faults[1]!(new Error('early'))
  await t.rejects(early.ended, { message: 'early' })
  const late = scene()
  late.answers[0]!(result)
  await late.ended
  late.faults[1]!(new Error('late'))
  late.answers[2]!(result)
  await new Promise(resolve => setImmediate(resolve))
  t.match(late.seen.bugs, [{ message: 'late' }])
  t.equal(late.seen.released, 1)
})
