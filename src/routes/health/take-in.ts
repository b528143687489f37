/**
 * What the findings of a probe mean for a route. The process that probes takes each in as it is found, the others take them in from
 * reports; times are in milliseconds of a monotonic clock.
 */
import type { Heads } from '../heads.ts'
import type { LiveRoute } from '../live-route.ts'
import type { Outcome, RouteReport } from './report.ts'

/** Outcomes of one kind after which one more changes nothing at a breaker. */
const ENOUGH = 3

/** What was taken in last of a route, so that each finding counts once. */
export interface Taken {
  /** The run of the process that probes; the numbers are of it. */
  readonly run: number
  /** Number of the last outcome, and of the last claim. */
  readonly outcome: number
  readonly claim: number
}

/** Before the first report. */
export const NOTHING_TAKEN: Taken = { run: 0, outcome: 0, claim: 0 }

/** The route serves the right chain, or what is wrong with the one that it serves. */
export function takeIdentity(
  live: LiveRoute,
  { identified, fault }: Pick<RouteReport, 'identified' | 'fault'>,
): void {
  live.identified = identified
  live.fault = fault
}

/** A look at the route has ended. */
export function takeOutcome(
  live: LiveRoute,
  { ended, why }: Pick<Outcome, 'ended' | 'why'>,
  now: number,
): void {
  if (ended === 'answered') live.breaker.probeSucceeded(now)
  else if (ended === 'not confirmed') live.breaker.notConfirmed(now)
  else live.breaker.probeFailed(why ?? 'unknown', now, live.isSuspect(now))
}

/**
 * All that another process has found out; `now` is when its report came. Returns what is taken in with it. The heads of the network have
 * to be updated when all reports are in that came together.
 */
export function takeReport(
  live: LiveRoute,
  report: RouteReport,
  heads: Heads,
  taken: Taken,
  now: number,
): Taken {
  takeIdentity(live, report)
  live.syncing = report.syncing
  live.slotsBehind = report.slotsBehind
  live.firstSlot = report.firstSlot
  live.final = report.final ?? null
  for (const { scale, number, asked, told } of report.slots)
    live.slots.tell(scale, number, now - asked, now - told)
  if (report.pause !== null) live.pauses.takeIn(report.pause, now)
  const { run } = report
  const known = run === taken.run ? taken : { ...NOTHING_TAKEN, run }
  const outcome = takeOutcomes(live, report, known.outcome, now)
  const { claim, tip } = report
  if (tip !== null) heads.takeTip(live.network, tip, now)
  // What calls have shown here since an older claim is newer than that.
  if (claim !== null && (claim.number !== known.claim || live.claimed === claim.height))
    heads.takeIn(live, claim, now)
  return { run, outcome, claim: claim?.number ?? known.claim }
}

/** Makes up for outcomes that were missed: by their kind, and by how the other breaker stands after them. */
function takeOutcomes(
  live: LiveRoute,
  { outcome, breaker }: RouteReport,
  taken: number,
  now: number,
): number {
  if (outcome === null || outcome.number === taken) return taken
  const { number, inARow, ago } = outcome
  const isNext = number === taken + 1
  const missed = number - taken
  const times = Math.min(missed, inARow, ENOUGH)
  const isMatched = !isNext && breaker !== null
  // Between failures that are missed and these ones its probes have closed it.
  if (breaker === null && missed > inARow)
    for (let i = 0; i < ENOUGH; i += 1) live.breaker.probeSucceeded(now - ago)
  // A failure does not lengthen a pause that lasts, and an answer ends it.
  if (isMatched && outcome.ended === 'failed') live.breaker.match(breaker, now)
  for (let i = 0; i < times; i += 1) takeOutcome(live, outcome, now - ago)
  if (isMatched) live.breaker.match(breaker, now)
  return number
}

/** Forgets how far a route has come, which nobody has said for long: it counts as current. Its faults and its breaker stay. */
export function forgetHeight(live: LiveRoute, heads: Heads): void {
  heads.forget(live)
  live.slots.clear()
  live.syncing = false
  live.slotsBehind = null
}
