/** One call, from what it asks to what was charged for it: the only place where the order stands. */
import type { Call, BadCall } from '../jsonrpc/message.ts'
import type { Charge } from '../ports/journal.ts'
import type { Grant, Price } from '../ports/limits.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { isRefusal, refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { refusalTable } from '../refusal/table.ts'
import { refused } from './reply/answer.ts'
import type { Answer, VerbatimAnswer, WholeAnswer } from './reply/answer.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { decide } from './decide.ts'
import type { Decided, View } from './decide.ts'
import { serve } from './service.ts'
import { storeRefusal } from './store-refusal.ts'
import { readerOf } from './caller.ts'
import type { Trail } from './node/attempts.ts'
import type { Running, Sent } from './settle.ts'
import { settle } from './settle.ts'
import { familyOf } from '../families/families.ts'
import { isBad } from '../jsonrpc/message.ts'

/** What differs between kinds of messages: how a call is answered, and where its answer goes. */
export interface Work<A> {
  /** Answers a call that was let in, and says where it has been. */
  readonly execute: (decided: Decided, trail: Trail) => MaybePromise<A>
  /** Sends the answer on its way; what a promise waits for is that it has left. */
  readonly reply: (answer: A | WholeAnswer) => MaybePromise<Sent>
  /** Its place in a batch; absent where it stands alone. */
  readonly index?: number
}

/**
 * Runs one call: decide → take → charge → execute → commit → reply → settle. `asked` is a refusal where the message holds something else than
 * a call. What is refused before money moves ends in the turn that began it, and gives no promise.
 */
export function run<A extends Answer | VerbatimAnswer>(
  asked: Call | Refusal,
  caller: Caller,
  context: Context,
  work: Work<A>,
): MaybePromise<void> {
  const begin = context.live.clock.monotonic()
  const running: Running = {
    rule: null,
    charge: null,
    route: null,
    cache: null,
    shared: false,
    upstreamMs: 0,
    begin,
    trace:
      context.snapshot.gateway.tracing === null
        ? null
        : context.live.tracing.begin(context, caller, begin, work.index ?? null),
  }
  let refusal: Refusal
  try {
    if (isRefusal(asked)) refusal = asked
    else if (context.live.management.methods.has(asked.method))
      return manage(asked, running, caller, context, work)
    else {
      const call = decide(asked, caller, viewOf(caller, context))
      running.rule = call.row?.rule ?? null
      if (call.refusal !== null) refusal = call.refusal
      else {
        const taken = take(call, caller, context, begin)
        if (!isRefusal(taken)) return perform(call, taken, running, caller, context, work)
        refusal = taken
      }
    }
  } catch (error) {
    refusal = bug(error, context)
  }
  return end(refused(refusal), running, caller, context, work)
}

/** Serves a call that was let in. What is at hand is not awaited: each `await` is a turn of the queue. */
async function perform<A extends Answer | VerbatimAnswer>(
  call: Decided,
  taking: MaybePromise<Grant | Refusal>,
  running: Running,
  caller: Caller,
  context: Context,
  work: Work<A>,
): Promise<void> {
  const { journal, clock } = context.live
  let answer: A | WholeAnswer
  let grant: Grant | null = null
  let charge: Charge | null = null
  try {
    const taken = taking instanceof Promise ? await taking : taking
    running.trace?.admitted()
    if (isRefusal(taken)) answer = refused(taken)
    else {
      grant = taken
      const { match, answer: local } = call.row.rule
      if (caller.payer !== null)
        charge = journal.charge(caller.payer, match, grant.units, grant.period, grant.at)
      const askedAt = local === null ? clock.monotonic() : 0
      const coming = work.execute(call, running)
      answer = coming instanceof Promise ? await coming : coming
      if (local === null && running.cache !== 'hit') running.upstreamMs = clock.monotonic() - askedAt
    }
  } catch (error) {
    answer = refused(bug(error, context))
  }
  if (answer.kind === 'refused' && !refusalTable[answer.refusal.reason].billed) {
    if (grant !== null) await giveBack(grant, charge)
  } else if (charge !== null) {
    const from = running.trace === null ? 0 : clock.monotonic()
    const committing = charge.commit()
    const isCommitted = committing instanceof Promise ? await committing : committing
    running.trace?.committed(from)
    if (isCommitted) running.charge = charge
    else {
      drop(answer)
      answer = refused(NO_JOURNAL)
      await giveBack(grant, charge)
    }
  }
  const ending = end(answer, running, caller, context, work)
  if (ending instanceof Promise) await ending
}

/** Answers a `service_*` call, which is free. */
async function manage<A extends Answer | VerbatimAnswer>(
  asked: Call,
  running: Running,
  caller: Caller,
  context: Context,
  work: Work<A>,
): Promise<void> {
  let answer: WholeAnswer
  try {
    answer = await serve(asked, caller, context)
  } catch (error) {
    answer = refused(storeRefusal(error) ?? bug(error, context))
  }
  await end(answer, running, caller, context, work)
}

/** Sends the answer, and settles what it cost. */
function end<A extends Answer | VerbatimAnswer>(
  answer: A | WholeAnswer,
  running: Running,
  caller: Caller,
  context: Context,
  { reply }: Work<A>,
): MaybePromise<void> {
  const sending = reply(answer)
  if (!(sending instanceof Promise)) {
    settle(answer, running, sending, caller, context)
    return
  }
  return sending.then(sent => {
    settle(answer, running, sent, caller, context)
  })
}

/** No call is served whose charge cannot be recorded. */
export const NO_JOURNAL = refuse('journal_unavailable')

/** Takes what the call costs, in the turn in which it began. */
function take(call: Decided, caller: Caller, context: Context, begin: number): MaybePromise<Grant | Refusal> {
  const { limits, journal, clock } = context.live
  if (caller.payer !== null && journal.failure !== null) return NO_JOURNAL
  return limits.take(caller, priceOf(call, caller, context), clock.now(), begin)
}

/** Undoes what was taken for a call that is refused after all. */
export async function giveBack(grant: Grant | null, charge: Charge | null): Promise<void> {
  grant?.giveBack()
  await charge?.giveBack()
}

/** Lets go of an answer that will not be sent. */
function drop(answer: Answer | VerbatimAnswer): void {
  if (answer.kind === 'stream' || answer.kind === 'verbatim') answer.body.destroy()
  if (answer.kind === 'result') answer.delivered?.(false)
}

function viewOf({ network }: Caller, { snapshot, live }: Context): View {
  return {
    maxDepth: snapshot.gateway.limits.depth,
    head: live.heads.best(network.slug),
    firstKept: live.upstreams.firstKept,
  }
}

/** Whatever throws is a bug of ours: the client gets `internal`, the operator the stack. */
function bug(error: unknown, { live, requestId }: Context): Refusal {
  live.observer.bug(error, requestId)
  return refuse('internal')
}

/** The row's cost, and rate unless the call ends something of the caller's own. */
export function priceOf(decided: Decided, caller: Caller, context: Context): Price {
  const { rule } = decided.row
  return rule.cost === 0 && endsOwn(decided, caller, context) ? UNRATED : { units: rule.cost, isRated: true }
}

const UNRATED: Price = { units: 0, isRated: false }

/** Whether the call ends a subscription or a filter that is the caller's own, which spares everybody work. */
function endsOwn({ row, params, elements }: Decided, caller: Caller, { live }: Context): boolean {
  if (row.rule.unsubscribes !== null) return caller.session?.holds(params) ?? false
  if (row.rule.sticky !== 'end') return false
  const [id = 'null'] = elements
  const owner = readerOf(caller)
  return live.freeEnds.has(owner) && live.filters.open(id, owner, caller.network.slug) !== null
}

/** The call in an item, or why there is none that can be made here. */
export function askedBy(
  item: Call | BadCall,
  { network, session }: Caller,
  { live }: Context,
): Call | Refusal {
  if (isBad(item)) return item.refusal
  if (session !== null && session.refusal !== null) return session.refusal
  // The rules of a network of the family http name verbs and paths, which are no JSON-RPC methods.
  return familyOf(network).wire === 'http' && !live.management.methods.has(item.method) ? ONLY_SERVICE : item
}
const ONLY_SERVICE = refuse(
  'method_not_found',
  'Only service_* methods are called here: send others to their path',
)
