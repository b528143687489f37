/**
 * What one process has found out about a route by probing it, for the others of its machine. A report is all that is known, not what is
 * new: only the newest counts. It is plain JSON; clocks differ between processes, so times are durations in milliseconds.
 */
import type { Network } from '../../snapshot/types.ts'
import type { FinalityReport } from '../finality.ts'
import type { HeightReport, TipReport } from '../height-report.ts'
import type { Heads } from '../heads.ts'
import type { LiveRoute } from '../live-route.ts'
import type { SlotReport } from '../slots.ts'
import type { BreakerStanding } from './breaker.ts'
import type { PauseReport } from './route-pauses.ts'

/** How the last look at a route ended that says anything to its breaker. */
export interface Outcome {
  /** One more with each outcome of the route, so that each counts once. */
  readonly number: number
  /** `not confirmed`: the route answers, although calls spoke against it. */
  readonly ended: 'answered' | 'not confirmed' | 'failed'
  /** A word for the operator; null where it has not failed. */
  readonly why: string | null
  /** How many looks have ended like this one behind the other. */
  readonly inARow: number
  /** When, in milliseconds of the monotonic clock of this process. */
  readonly at: number
}

/** All that is known of one route by probes. */
export interface RouteReport {
  /** Slug of its network, and its id. */
  readonly network: string
  readonly route: string
  /** Hash of what makes it this way to this upstream: of another one under the same id nothing is known. */
  readonly definition: string
  /** Differs from start to start of the process that probes; numbers below count from 1 in each. */
  readonly run: number
  /** Whether its chain has been checked and is the right one. */
  readonly identified: boolean
  /** What speaks against it ever serving; null when nothing does. */
  readonly fault: string | null
  readonly syncing: boolean
  /** How far behind the cluster its node says that it is; null when it does not. */
  readonly slotsBehind: number | null
  /** The oldest slot that it keeps; null where it keeps all, or has not told. */
  readonly firstSlot: number | null
  /** How far a Solana route has come, by commitment. */
  readonly slots: readonly SlotReport[]
  /** The last claim of a height, by its number, so that each is taken in once; null while there is none. */
  readonly claim: (HeightReport & { readonly number: number }) | null
  /** How far its network has come; null while nobody can say. */
  readonly tip: TipReport | null
  /** The newest block that it holds to be final, and what is final on its network; absent where nothing of it is cached. */
  readonly final?: number | null
  readonly finality?: FinalityReport
  readonly outcome: (Omit<Outcome, 'at'> & { readonly ago: number }) | null
  /** How its breaker stands for everybody; null while it is closed. */
  readonly breaker: BreakerStanding | null
  readonly pause: PauseReport | null
  /** For how long calls have kept away from it, and how long ago it came back from a long time of that; null when not. */
  readonly downFor: number | null
  readonly restartedAgo: number | null
}

/** What the process that probes knows besides the route's own state. */
export interface Known {
  readonly definition: string
  readonly run: number
  readonly heads: Heads
  readonly outcome: Outcome | null
  /** Number of the last claim. */
  readonly claim: number
  /** Milliseconds of the monotonic clock. */
  readonly now: number
}

/** The report of a route as it is now. */
export function reportOf(
  network: Network,
  live: LiveRoute,
  { definition, run, heads, outcome, claim, now }: Known,
): RouteReport {
  const { slug } = network
  const { identified, fault, syncing, slotsBehind, firstSlot, downSince, restartedAt, final } = live
  const height = heads.reportOf(live, now)
  return {
    network: slug,
    route: live.id,
    definition,
    run,
    identified,
    fault,
    syncing,
    slotsBehind,
    firstSlot,
    slots: live.slots.report(now),
    claim: height === null ? null : { ...height, number: claim },
    tip: heads.tipReport(slug, now),
    ...(network.cache === null ? {} : { final, finality: heads.finality.report(network) }),
    outcome: outcome === null ? null : outcomeReport(outcome, now),
    breaker: live.breaker.standing(now),
    pause: live.pauses.report(now),
    downFor: downSince === null ? null : now - downSince,
    restartedAgo: restartedAt === null ? null : now - restartedAt,
  }
}

function outcomeReport({ number, ended, why, inARow, at }: Outcome, now: number): RouteReport['outcome'] {
  return { number, ended, why, inARow, ago: now - at }
}
