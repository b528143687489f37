/** What reports of usage are made with, and who hears how it goes. */
import type { LateUsage, LedgerChanges } from '../../sqlite/usage/reports/changes.ts'
import type { ReportReader } from '../../sqlite/usage/reports/report.ts'
import type { Postgres } from '../postgres.ts'
import type { NodeState } from './nodes.ts'

/** What a spool works with. */
export interface SpoolParts {
  readonly postgres: Postgres
  readonly changes: LedgerChanges
  readonly reader: Pick<ReportReader, 'pages' | 'end'>
  /** Makes what reports are written to, before the first. */
  readonly prepare: () => Promise<void>
  /** Brings everything that was charged before into the ledger. */
  readonly gather: () => Promise<void>
  readonly state: () => NodeState
  /** Milliseconds between two reports. */
  readonly every: number
  /** Hears how many rows more PostgreSQL has. */
  readonly sent?: (rows: number) => void
  readonly events: SpoolEvents
}

/** Tells the operator how it goes. */
export interface SpoolEvents {
  /** Another process reports as this node: this one stops. */
  fenced(): void
  /** This data directory was copied or put back: it goes on under a new id. */
  forked(before: string, id: string): void
  /** A report failed; what it had is in the next one. */
  failed(error: Error): void
  /** Usage of hours that are final already: PostgreSQL has not taken it. */
  late(usage: LateUsage): void
  /** Reports work again. */
  recovered(): void
}
