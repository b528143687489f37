/** The port Ledger written as plainly as it can be: an array that each question reads from end to end. */
import { COLUMNS, STEP } from '../../src/ports/ledger.ts'
import type { Column, Ledger, SumsPage, SumsQuery, Totals } from '../../src/ports/ledger.ts'

/** Calls of one method of an endpoint that came at one time (Unix seconds); with a reason they were refused. */
export interface Used {
  readonly accountId: string
  readonly endpointId: string
  readonly network: string
  readonly method: string
  readonly at: number
  readonly calls: number
  readonly requests: number
  readonly reason: string | null
}

/** Groups of rows whose values of the columns asked for are equal. */
interface Group {
  readonly values: readonly (string | number)[]
  calls: number
  requests: number
  refusals: number
}

/** Answers from what was pushed. */
export class PlainLedger implements Ledger {
  readonly used: Used[] = []

  async totals(accountId: string, endpointIds?: readonly string[]): Promise<ReadonlyMap<string, Totals>> {
    const totals = new Map<string, Totals>()
    for (const each of this.used) {
      const { endpointId } = each
      if (each.accountId !== accountId || endpointIds?.includes(endpointId) === false) continue
      const { calls, requests } = totals.get(endpointId) ?? { calls: 0, requests: 0 }
      const more = each.reason === null ? each : { calls: 0, requests: 0 }
      totals.set(endpointId, { calls: calls + more.calls, requests: requests + more.requests })
    }
    return Promise.resolve(totals)
  }

  async sum(query: SumsQuery): Promise<SumsPage> {
    const groups = new Map<string, Group>()
    for (const each of this.used) {
      if (query.accountId !== null && each.accountId !== query.accountId) continue
      if (query.network !== null && each.network !== query.network) continue
      if (query.method !== null && each.method !== query.method) continue
      if (query.endpointId !== null && each.endpointId !== query.endpointId) continue
      const hour = each.at - (each.at % STEP.hour)
      if (hour < query.from - (query.from % STEP.hour) || hour >= query.to) continue
      const step = hour - (hour % STEP[query.by])
      if (query.groupBy.includes('reason') && each.reason === null) continue
      const values = COLUMNS.filter(column => query.groupBy.includes(column)).map(column =>
        valueOf(column, each, step),
      )
      const key = JSON.stringify(values)
      const group = groups.get(key) ?? { values, calls: 0, requests: 0, refusals: 0 }
      groups.set(key, group)
      if (each.reason === null) {
        group.calls += each.calls
        group.requests += each.requests
      } else group.refusals += each.calls
    }
    const rows = [...groups.values()].sort((a, b) => compare(a.values, b.values))
    const shown = rows.map(({ values, calls, requests, refusals }) => {
      const columns = COLUMNS.filter(column => query.groupBy.includes(column)).map(column => NAMES[column])
      const named = Object.fromEntries(columns.map((name, i) => [name, values[i]]))
      return query.groupBy.includes('reason')
        ? { ...named, refusals }
        : { ...named, calls, requests, errors: 0, refusals }
    })
    return Promise.resolve({ rows: JSON.stringify(shown), last: null })
  }
}

const NAMES = {
  time: 'time',
  account: 'accountId',
  endpoint: 'endpointId',
  network: 'network',
  method: 'method',
  reason: 'reason',
} as const

function valueOf(
  column: Column,
  { accountId, endpointId, network, method, reason }: Used,
  time: number,
): string | number {
  return { time, account: accountId, endpoint: endpointId, network, method, reason: reason ?? '' }[column]
}

function compare(a: Group['values'], b: Group['values']): number {
  const at = a.findIndex((value, i) => value !== b[i])
  return at === -1 ? 0 : a[at]! < b[at]! ? -1 : 1
}
