/** A transaction that goes to several upstreams at once: the first that takes it answers, the others run on. */
import { Departure } from '../../net/departure.ts'
import type { Candidate } from '../../routes/pick.ts'
import type { Failure } from '../../routes/transport/verdict.ts'
import type { Network, Rule } from '../../snapshot/types.ts'
import type { Context } from '../context.ts'
import { attempt, HOLD_BACK } from './attempt.ts'
import type { AttemptOptions, Round } from './attempt.ts'
import { isTurnedDown } from './attempts.ts'
import type { Request } from './request.ts'
import { SendResults } from './send-results.ts'
import { noteTaken } from './takers.ts'

/** To how many upstreams at once a call is sent. */
export function spreadOf(
  { broadcast }: Pick<Network, 'broadcast'>,
  rule: Pick<Rule, 'retry' | 'broadcast'>,
): number {
  return rule.retry === 'dedupe' ? (rule.broadcast ?? broadcast) : 1
}

/**
 * Sends the call to `first` and to those that `beside` picks. Resolves with the first result that is believed, else with any; where no node takes the transaction, with the
 * error of the first route that has one about the call, once all have ended: until then one may still take it.
 */
export function broadcast(
  first: Candidate,
  request: Request,
  options: AttemptOptions,
  context: Context,
  beside: (most: number) => readonly Candidate[],
): Promise<Round> {
  const { holder, live } = context
  const most = spreadOf(request.network, request.row.rule)
  // What runs on behind its message is counted for as long as it does.
  const held = holder?.apart() ?? null
  const noRoom = held?.take(most * request.params.length) ?? null
  const others = noRoom === null ? beside(most - 1) : []
  if (others.length === 0) {
    held?.release()
    return attempt(first, request, options, context)
  }
  const results = new SendResults(request)
  let isAnswered = false
  const release = letGo(context)
  const own = {
    left: options.left,
    sentBefore: true,
    departure: null,
    isLate: () => isAnswered,
    mode: { stream: false, maxBytes: HOLD_BACK, holder: held, cached: null, gather: null },
  }
  const rounds = [first, ...others].map(async candidate => {
    const each = { ...own, kind: candidate === first ? options.kind : ('broadcast' as const) }
    const round = await attempt(candidate, { ...request, departure: () => release.waiting }, each, context)
    const { verdict } = round
    if (verdict.kind !== 'result') return { round, isAnswer: false }
    noteTaken(request, candidate.route.id, verdict, live.sent, results.isProven(verdict.result))
    const isAnswer = results.isBelieved(verdict.result)
    if (isAnswer) {
      isAnswered = true
      release.now()
    }
    return { round, isAnswer }
  })
  void Promise.allSettled(rounds).then(() => {
    release.now()
    held?.release()
  })
  return new Promise((resolve, reject) => {
    for (const round of rounds)
      round.then(
        done => {
          if (done.isAnswer) resolve(done.round)
        },
        (error: unknown) => {
          if (isAnswered) live.observer.bug(error, context.requestId)
          else reject(error instanceof Error ? error : new Error('an attempt threw', { cause: error }))
        },
      )
    Promise.all(rounds).then(
      done => {
        resolve(
          wordOf(
            done.map(each => each.round),
            results,
          ),
        )
      },
      () => undefined,
    )
  })
}

/** Has attempts end that still wait for a connection: once another one has answered, or when the client leaves. */
function letGo(context: Context): { readonly waiting: Departure; readonly now: () => void } {
  const waiting = new Departure()
  const client = context.departure()
  const leave = (): void => {
    waiting.leave()
  }
  client?.on(leave)
  const now = (): void => {
    client?.off(leave)
    leave()
  }
  return { waiting, now }
}

/** What is made of attempts of which none is believed: a hash all the same, an error about the call, else that a node may have the transaction. */
function wordOf(rounds: readonly Round[], results: SendResults): Round {
  const failed = (is: (failure: Failure) => boolean): Round | undefined =>
    rounds.find(({ verdict }) => verdict.kind === 'failure' && is(verdict))
  return (
    rounds.find(({ verdict }) => verdict.kind === 'result' && results.isHash(verdict.result)) ??
    rounds.find(({ verdict }) => verdict.kind !== 'failure') ??
    failed(failure => failure.sent && !isTurnedDown(failure)) ??
    failed(({ passOn }) => passOn) ??
    rounds[0]!
  )
}
