/**
 * What the keeper and the workers of one machine say to each other (fleet, section 8.2). `t` names the message, an unknown one is ignored; `id`
 * is that of a question, which its answer repeats. A gateway is upgraded worker by worker: who changes a message changes `PROTOCOL` (`role.ts`).
 */
import type { AnswerOrigin } from '../../ports/answer-cache.ts'
import type { HeldCount, HoldingAnswer, HoldingQuestion, Recalled } from '../../ports/holding-store.ts'
import type { LimitAnswer, LimitQuestion, QuotaOf } from '../../ports/limit-store.ts'
import type { SumsFailure, SumsPage, SumsQuery, Totals } from '../../ports/ledger.ts'
import type { Config } from '../../config/types.ts'
import type { ProcessMetrics } from './kept-counters.ts'
import type { HeightKind } from '../../families/height-kind.ts'
import type { PauseReport } from '../../routes/health/route-pauses.ts'
import type { RouteReport } from '../../routes/health/report.ts'
import type { SentNews } from '../../routes/sent.ts'
import type { NetworkState } from '../../routes/network-state.ts'
import type { CallLine } from '../../observe/call-line.ts'
import type { Traced, TraceTarget } from '../../observe/traces.ts'
import type { Usage } from '../../stores/sqlite/usage/fold.ts'

/** Usage as it is sent: refusals by reason as an object. */
export type SentUsage = Omit<Usage, 'reasons'> & { readonly reasons: Readonly<Record<string, number>> | null }

export function usageOf({ reasons, ...sent }: SentUsage): Usage {
  return { ...sent, reasons: reasons === null ? null : new Map(Object.entries(reasons)) }
}

/** Who speaks; the first message of each side. */
export interface Hello {
  readonly t: 'hello'
  /** The worker's place among its like, from 1; 0 for the keeper. */
  readonly slot: number
  /** The version of the configuration that a worker serves; empty while it starts, and of the keeper. */
  readonly serves: string
  /** Which process it is: what another keeper has granted, this one knows nothing of. Absent while a keeper starts. */
  readonly instance?: string
  /** What a worker holds: a keeper that is new knows nothing of it. */
  readonly holdings?: readonly HeldCount[]
}

/** The configuration that all workers serve, whatever the files say by now. */
export interface Served {
  readonly config: Config
  readonly version: string
}

/** How a worker is. */
export interface WorkerState {
  readonly pid: number
  /** Of the configuration that it serves. */
  readonly version: string
  /** Why it records no usage now; null while it does. */
  readonly failure: string | null
  /** Its networks and routes, as `/status` tells of them. */
  readonly networks: readonly NetworkState[]
}

/** What one process has learned and others should know; nobody answers it. */
export type News =
  /** What the keeper's probes have found out. */
  | { readonly t: 'heads'; readonly reports: readonly RouteReport[] }
  /** Calls of a worker speak against a route. */
  | { readonly t: 'suspect'; readonly route: string }
  /** A route is paused for everybody. */
  | { readonly t: 'pause'; readonly route: string; readonly pause: PauseReport }
  /** A worker has changed accounts or endpoints: others look before they would by themselves. */
  | { readonly t: 'accounts' }
  /** Changes of accounts are refused from now on: their file is damaged. */
  | { readonly t: 'damaged'; readonly why: string }
  /** How many machines share the limits. */
  | { readonly t: 'machines'; readonly live: number }
  /** The highest block of a network that a client was shown, and the route that showed it. */
  | {
      readonly t: 'shown'
      readonly network: string
      readonly scale: HeightKind
      readonly head: number
      readonly route: string | null
    }
  /** A route has taken a transaction. */
  | { readonly t: 'sent'; readonly sent: SentNews }

/** What a worker asks of the keeper. */
export interface Questions {
  /** Units of shared buckets. */
  readonly ask: {
    readonly said: { readonly buckets: readonly LimitQuestion[] }
    readonly told: { readonly answers: readonly (LimitAnswer | null)[] }
  }
  /** What it holds of connections and subscriptions, and to hold more. */
  readonly hold: {
    readonly said: { readonly holdings: readonly HoldingQuestion[] }
    readonly told: { readonly answers: readonly (HoldingAnswer | null)[] }
  }
  /** What its journal holds up to a place, to be taken over into the ledger. */
  readonly cells: {
    readonly said: { readonly file: string; readonly to: number; readonly cells: readonly SentUsage[] }
    readonly told: { readonly to: number }
  }
  /** What an account has used of a quota, by the ledger; null where that cannot be read now. */
  readonly used: {
    readonly said: { readonly quota: QuotaOf }
    readonly told: { readonly units: number | null }
  }
  /** Usage since the creation of endpoints. */
  readonly totals: {
    readonly said: { readonly account: string; readonly endpoints: readonly string[] | null }
    readonly told: {
      readonly totals: readonly (readonly [endpoint: string, totals: Totals])[]
      readonly isStale: boolean
    }
  }
  /** A page of sums. */
  readonly sums: {
    readonly said: { readonly query: SumsQuery }
    readonly told: { readonly page: SumsPage | SumsFailure }
  }
  /** All that is known of routes. */
  readonly reports: {
    readonly said: object
    readonly told: { readonly reports: readonly RouteReport[] }
  }
  /** What it has counted, for good: it leaves. */
  readonly bye: {
    readonly said: ProcessMetrics
    readonly told: object
  }
  /** What is to be served. */
  readonly config: {
    readonly said: object
    readonly told: Served
  }
}

/** What the keeper asks of a worker. */
export interface KeeperQuestions {
  /** For a sign of life. */
  readonly ping: { readonly said: object; readonly told: object }
  /** To hand over all that it holds. */
  readonly held: {
    readonly said: object
    readonly told: { readonly isTaken: boolean }
  }
  /** To serve a configuration. Of the same version, its certificate may be another one. */
  readonly take: {
    readonly said: Served
    readonly told: { readonly version: string }
  }
  /** The configuration that it serves; null while it serves none. */
  readonly serving: { readonly said: object; readonly told: { readonly served: Served | null } }
  readonly state: { readonly said: object; readonly told: WorkerState }
  /** Its metrics, as Prometheus reads them. */
  readonly metrics: { readonly said: object; readonly told: ProcessMetrics }
  /** To drop kept answers, and how many it had. */
  readonly purge: {
    readonly said: Partial<AnswerOrigin>
    readonly told: { readonly purged: number }
  }
  /** What `POST /explain` asks. */
  readonly explain: {
    readonly said: { readonly body: unknown }
    readonly told: { readonly status: number; readonly json: unknown }
  }
  /** What it remembers of a request that failed. */
  readonly calls: {
    readonly said: { readonly requestId: string }
    readonly told: { readonly lines: readonly CallLine[] }
  }
  /** The lines of a trace since it was last asked for them; the first time opens it. */
  readonly trace: {
    readonly said: { readonly trace: string; readonly target: TraceTarget }
    readonly told: Traced
  }
  /** To give up its room for connections and subscriptions of which others have none left, and how many it holds now. */
  readonly recall: {
    readonly said: { readonly recalled: readonly Recalled[] }
    readonly told: { readonly held: readonly number[] }
  }
}
