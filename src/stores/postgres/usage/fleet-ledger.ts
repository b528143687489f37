/**
 * The port Ledger over all gateways. Each answer is PostgreSQL's alone, once it has what this machine has charged. While it is away, it is this machine's
 * own, and says so.
 */
import { StoreUnavailable } from '../../../ports/store-unavailable.ts'
import type { PostgresConfig } from '../../../config/fleet.ts'
import type {
  EndpointTotals,
  Ledger,
  SumsFailure,
  SumsPage,
  SumsQuery,
  Totals,
} from '../../../ports/ledger.ts'
import { orAfter } from '../../../net/or-after.ts'
import { SumThreads } from '../../sqlite/usage/sums/threads.ts'
import type { SumThread } from '../../sqlite/usage/sums/threads.ts'
import type { Postgres } from '../postgres.ts'
import type { Spool } from './spool.ts'

/** What it works with. */
export interface FleetLedgerParts {
  readonly postgres: Postgres
  readonly config: PostgresConfig
  readonly spool: Pick<Spool, 'flush' | 'isFailing'>
  /** This machine's ledger. */
  readonly own: Ledger
}

/** Reads usage of all gateways. */
export class FleetLedger implements Ledger {
  readonly #parts: FleetLedgerParts
  readonly #sums: SumThreads

  constructor(parts: FleetLedgerParts) {
    this.#parts = parts
    this.#sums = new SumThreads(threadOn(parts.config), {
      isLong: () => false,
      shorten: () => Promise.resolve(),
    })
  }

  async totals(accountId: string, endpointIds?: readonly string[]): Promise<EndpointTotals> {
    const { own } = this.#parts
    return this.#orOwn(
      () => this.#totals(accountId, endpointIds),
      async () =>
        Object.assign(new Map(await own.totals(accountId, endpointIds)), { isStale: true as const }),
    )
  }

  async sum(query: SumsQuery): Promise<SumsPage | SumsFailure> {
    return this.#orOwn(
      () => this.#sums.sum(query),
      async () => {
        const page = await this.#parts.own.sum(query)
        return typeof page === 'string' ? page : { ...page, isStale: true }
      },
    )
  }

  async close(): Promise<void> {
    await this.#sums.close()
  }

  async #orOwn<T>(read: () => Promise<T>, own: () => Promise<T>): Promise<T> {
    if (!(await this.#isSent())) return own()
    try {
      return await read()
    } catch (error) {
      if (error instanceof StoreUnavailable) return own()
      throw error
    }
  }

  /** Whether PostgreSQL has what was charged here before. */
  async #isSent(): Promise<boolean> {
    const { spool, config } = this.#parts
    if (spool.isFailing) return false
    let isSent = false
    const sent = spool.flush().then(
      () => {
        isSent = true
      },
      () => undefined,
    )
    // One report may be under way, and the first of a machine is long.
    await orAfter(sent, 2 * config.timeout)
    return isSent
  }

  async #totals(accountId: string, endpointIds?: readonly string[]): Promise<ReadonlyMap<string, Totals>> {
    const rows = await this.#parts.postgres.query<Totals & { endpoint: string }>(
      `SELECT endpoint, sum(calls)::bigint AS calls, sum(requests)::bigint AS requests FROM total
       WHERE account = $1 AND ($2::text[] IS NULL OR endpoint = ANY ($2)) GROUP BY endpoint`,
      [accountId, endpointIds ?? null],
    )
    return new Map(rows.map(({ endpoint, calls, requests }) => [endpoint, { calls, requests }]))
  }
}

/** The thread that reads PostgreSQL. */
function threadOn(postgres: PostgresConfig): SumThread {
  return {
    file: { beside: import.meta.url, source: 'sums/worker', built: 'usage-fleet-worker' },
    data: limit => ({ postgres, limit }),
  }
}
