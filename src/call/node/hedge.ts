/** A second try beside a slow first one, where a network asks for it: the first answer counts, the other is cut. */
import { Departure } from '../../net/departure.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Candidate, Picked } from '../../routes/pick.ts'
import { attempt } from './attempt.ts'
import type { AttemptOptions, Round } from './attempt.ts'
import type { Context } from '../context.ts'
import type { Request } from './request.ts'

/** Whether a slow try of this call may be doubled. */
export function mayHedge({ network, row }: Request): boolean {
  return network.hedge && row.rule.hedge && row.rule.retry === 'safe'
}

/** One try, or two: `another` picks the second route once the first has been slower than for 95 in 100 of the caller's calls. */
export function hedged(
  first: Candidate,
  request: Request,
  options: AttemptOptions,
  context: Context,
  another: () => Picked,
): Promise<Round> {
  const delay = mayHedge(request) ? first.live.latency.of(request.caller).p95 : null
  return delay === null
    ? attempt(first, request, options, context)
    : doubled(first, request, options, context, another, delay)
}

async function doubled(
  first: Candidate,
  request: Request,
  options: AttemptOptions,
  context: Context,
  another: () => Picked,
  delay: number,
): Promise<Round> {
  const rounds = [cuttable(first, request, options, context)]
  const soon = await within(rounds[0]!.round, delay, context.live.clock)
  if (soon !== null) return soon
  const second = another()
  if (typeof second !== 'string')
    rounds.push(cuttable(second, request, { ...options, kind: 'hedge' }, context))
  const winner = await firstAnswer(rounds.map(each => each.round))
  for (const { unless } of rounds) unless(winner)
  return winner
}

/** A try, and what cuts it unless it is the winner's. */
interface Cuttable {
  readonly round: Promise<Round>
  readonly unless: (winner: Round) => void
}

function cuttable(
  candidate: Candidate,
  request: Request,
  options: AttemptOptions,
  context: Context,
): Cuttable {
  const departure = new Departure()
  const leave = (): void => {
    departure.leave()
  }
  options.departure?.on(leave)
  const round = attempt(candidate, request, { ...options, departure }, context)
  let ended: Round | null = null
  void round.then(own => {
    ended = own
    options.departure?.off(leave)
  })
  return {
    round,
    unless: winner => {
      if (ended === winner) return
      // A reply that streams would keep its connection until somebody reads it.
      if (ended?.verdict.kind === 'open') ended.verdict.body.destroy()
      else departure.leave()
    },
  }
}

/** The first round that ended in an answer; when none does, the last one. */
async function firstAnswer(rounds: readonly Promise<Round>[]): Promise<Round> {
  const answered = rounds.map(async round => {
    const done = await round
    if (done.verdict.kind === 'failure') throw new Error(done.verdict.why)
    return done
  })
  try {
    return await Promise.any(answered)
  } catch {
    return rounds.at(-1)!
  }
}

async function within(round: Promise<Round>, ms: number, clock: Clock): Promise<Round | null> {
  let stop = (): void => undefined
  const late = new Promise<null>(resolve => {
    stop = clock.after(ms, () => {
      resolve(null)
    })
  })
  const first = await Promise.race([round, late])
  stop()
  return first
}
