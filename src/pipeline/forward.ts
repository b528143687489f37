/** Sends a call upstream: to the next able route while the call may be repeated, within one deadline. */
import { refuse } from '../jsonrpc/refusal.ts'
import { findOpenMember } from '../jsonrpc/relay.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Reply } from '../jsonrpc/reply.ts'
import type { Network, Rule } from '../snapshot/types.ts'
import type { Setback, Verdict } from '../upstream/verdict.ts'
import type { Candidate } from '../upstream/order.ts'
import type { LiveRoute } from '../upstream/live-route.ts'
import type { Answer } from './answer.ts'
import { refused } from './answer.ts'
import type { Context } from './context.ts'

/** Milliseconds per attempt and for all of them (design, "Numbers"). */
const TIMEOUTS = {
  fast: { attempt: 5_000, deadline: 15_000 },
  normal: { attempt: 10_000, deadline: 30_000 },
  heavy: { attempt: 60_000, deadline: 60_000 },
} as const

/** Routes one call may be sent to. */
const MAX_ATTEMPTS = 3
/** Bytes of a reply held back until status, id and error are known. */
const HOLD_BACK = 256 * 1024

/** A call that has passed every check. */
export interface Request {
  readonly network: Network
  readonly rule: Rule
  readonly method: string
  readonly params: Raw
  /** Ids of the routes that may serve it. */
  readonly routes: readonly string[]
}

/** Whether a long reply may stream, or must be held whole; `maxBytes` null is no cap. */
export interface ReplyMode {
  readonly stream: boolean
  readonly maxBytes: number | null
}

/** The answer, and the milliseconds that upstreams took for it. */
export interface Forwarded {
  readonly answer: Answer
  readonly upstreamMs: number
}

let lastId = 0

/** A small integer: nodes differ in which client ids they take (hazards, "Upstream side"). */
function nextId(): number {
  lastId = (lastId % 999_999) + 1
  return lastId
}

/** Sends `request` upstream until a route answers, or no more may be tried. */
export async function forward(request: Request, mode: ReplyMode, context: Context): Promise<Forwarded> {
  const { network, rule } = request
  const { upstreams } = context.live
  const begin = performance.now()
  const deadline = begin + TIMEOUTS[rule.timeout].deadline
  let last: Setback | null = null
  for (const candidate of upstreams
    .candidates(network, request.routes, context.live.now())
    .slice(0, MAX_ATTEMPTS)) {
    const left = deadline - performance.now()
    if (left <= 0 || (last !== null && !mayGoOn(rule, last))) break
    const id = nextId()
    const verdict = await attempt(candidate, request, { id, left, mode }, context)
    if (verdict.kind !== 'setback')
      return { answer: answerOf(verdict, id), upstreamMs: performance.now() - begin }
    last = verdict
  }
  return { answer: lastWord(last), upstreamMs: performance.now() - begin }
}

/** Only what a repetition cannot change is repeated; anything is where nothing was sent. */
function mayGoOn(rule: Rule, last: Setback): boolean {
  if (last.why === 'too_large') return false
  return !last.sent || rule.retry === 'safe'
}

function lastWord(last: Setback | null): Answer {
  if (last === null) return refused(refuse('no_route'))
  return last.answer === null ? refused(last.refusal) : answerOf(last.answer, 0)
}

function answerOf(verdict: Exclude<Verdict, Setback> | Reply, sentAs: number): Answer {
  if (verdict.kind !== 'open') return verdict
  const { head, tail } = verdict
  const open = findOpenMember(head.toString('latin1'))
  if (open !== null) return { kind: 'stream', ...open, head, tail, sentAs }
  tail.destroy()
  return refused(refuse('upstream_error'))
}

async function attempt(
  { route, live }: Candidate & { readonly live: LiveRoute },
  { network, rule, method, params }: Request,
  { id, left, mode }: { readonly id: number; readonly left: number; readonly mode: ReplyMode },
  context: Context,
): Promise<Verdict> {
  const begin = performance.now()
  const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
  const timeout = Math.min(left, route.timeout ?? TIMEOUTS[rule.timeout].attempt)
  const limits = { timeout, holdBack: mode.stream ? HOLD_BACK : Infinity, maxBytes: mode.maxBytes }
  const verdict = await live.ask(body, id, limits, () => context.live.now())
  const result = verdict.kind === 'setback' ? verdict.why : verdict.kind === 'error' ? 'error' : 'ok'
  context.live.observer.attempt({
    network: network.slug,
    route: route.id,
    result,
    ms: performance.now() - begin,
  })
  return verdict
}
