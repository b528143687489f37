/** One call, from what it asks to what was charged for it: the only place where the order stands. */
import type { Call } from '../jsonrpc/call.ts'
import type { Charge } from '../ports/journal.ts'
import type { Grant } from '../ports/limits.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { isRefusal, refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { refusalTable } from '../refusal/table.ts'
import type { Rule } from '../snapshot/types.ts'
import { refused } from './answer.ts'
import type { Answer, VerbatimAnswer, WholeAnswer } from './answer.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'
import { decide } from './decide.ts'
import type { Decided, View } from './decide.ts'
import { priceOf } from './price.ts'
import { serve } from './service.ts'
import { settle } from './settle.ts'
import type { Sent } from './settle.ts'

/** What differs between kinds of messages: how a call is answered, and where its answer goes. */
export interface Work<A> {
  /** Answers a call that was let in. */
  readonly execute: (decided: Decided) => MaybePromise<A>
  /** Sends the answer on its way; what a promise waits for is that it has left. */
  readonly reply: (answer: A | WholeAnswer) => MaybePromise<Sent>
}

/**
 * Runs one call: decide → take → charge → execute → commit → reply → settle. `asked` is a refusal where the message holds something else than
 * a call. What is at hand is not awaited, so a call that is refused ends in the turn that began it.
 */
export async function run<A extends Answer | VerbatimAnswer>(
  asked: Call | Refusal,
  caller: Caller,
  context: Context,
  { execute, reply }: Work<A>,
): Promise<void> {
  const begin = performance.now()
  const { journal, management, now } = context.live
  let answer: A | WholeAnswer
  let rule: Rule | null = null
  let grant: Grant | null = null
  let charge: Charge | null = null
  let upstreamMs = 0
  try {
    if (isRefusal(asked)) answer = refused(asked)
    else if (management.has(asked.method)) answer = await serve(asked, caller, context)
    else {
      const call = decide(asked, caller, viewOf(caller, context))
      rule = call.row?.rule ?? null
      const taking = call.refusal ?? take(call, caller, context)
      const taken = taking instanceof Promise ? await taking : taking
      if (isRefusal(taken) || call.refusal !== null) answer = refused(taken as Refusal)
      else {
        grant = taken
        const { match, answer: local } = call.row.rule
        if (caller.payer !== null)
          charge = journal.charge(caller.payer, match, grant.units, grant.period, now())
        const coming = execute(call)
        const askedAt = performance.now()
        answer = coming instanceof Promise ? await coming : coming
        if (local === null) upstreamMs = performance.now() - askedAt
      }
    }
  } catch (error) {
    answer = bug(error, context)
  }
  if (answer.kind === 'refused' && !refusalTable[answer.refusal.reason].billed) {
    if (grant !== null) await giveBack(grant, charge)
    charge = null
  } else if (charge !== null) {
    const committing = charge.commit()
    if (!(committing instanceof Promise ? await committing : committing)) {
      drop(answer)
      answer = refused(NO_JOURNAL)
      await giveBack(grant, charge)
      charge = null
    }
  }
  const sending = reply(answer)
  const sent = sending instanceof Promise ? await sending : sending
  settle({ answer, rule, charge, upstreamMs, begin }, sent, caller, context)
}

/** No call is served whose charge cannot be recorded. */
export const NO_JOURNAL = refuse('journal_unavailable')

/** Takes what the call costs. */
function take(call: Decided, caller: Caller, context: Context): MaybePromise<Grant | Refusal> {
  const { limits, journal, now } = context.live
  if (caller.payer !== null && journal.failure !== null) return NO_JOURNAL
  return limits.take(caller, priceOf(call, caller, context), now())
}

/** Undoes what was taken for a call that is refused after all. */
export async function giveBack(grant: Grant | null, charge: Charge | null): Promise<void> {
  grant?.giveBack(charge?.isLost !== true)
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
    head: live.tips.best(network.slug),
    firstSlot: live.upstreams.firstSlot,
  }
}

/** Whatever throws is a bug of ours: the client gets `internal`, the operator the stack. */
function bug(error: unknown, { live, requestId }: Context): WholeAnswer {
  live.observer.bug(error, requestId)
  return refused(refuse('internal'))
}
