import type { UsageQuery, UsageRow } from '../usage/types.ts'
import { oneOf, text, time } from './checks.ts'
import { endpointNotFound, invalidParams } from './errors.ts'
import { readParams } from './params.ts'
import type { AccountCaller, ServiceDeps, ServiceReply } from './types.ts'

const DAY = 86_400
// Of a year by the hour the reply would be hundreds of megabytes.
const RANGES = {
  hour: { usual: DAY, most: 31 * DAY },
  day: { usual: 30 * DAY, most: 366 * DAY },
} as const

/** service_usage {from?, to?, by, endpointId?}: the account's rows of the ledger; `from` inclusive, `to` exclusive. */
export function showUsage(params: unknown, { account }: AccountCaller, deps: ServiceDeps): ServiceReply {
  const read = readParams(params, { by: oneOf('hour', 'day') }, { from: time, to: time, endpointId: text })
  if ('error' in read) return read
  const { by, endpointId } = read.values
  const { usual, most } = RANGES[by]
  const to = read.values.to ?? deps.now()
  const from = read.values.from ?? Math.max(0, to - usual)
  if (from >= to) return invalidParams('from must be before to')
  if (to - from > most) return invalidParams(`by ${by}, from and to may be at most ${most / DAY} days apart`)

  const query: UsageQuery = { accountId: account.id, from, to, by }
  if (endpointId === undefined)
    return { result: { from, to, by, rows: deps.usage.rows(query).map(describe) } }
  // A deleted endpoint's usage stays the account's.
  if (deps.accounts.endpointLabel(endpointId)?.accountId !== account.id) return endpointNotFound()
  return { result: { from, to, by, rows: deps.usage.rows({ ...query, endpointId }).map(describe) } }
}

function describe({ time, endpointId, network, method, calls, requests, errors, refusals }: UsageRow) {
  return { time, endpointId, network, method, calls, requests, errors, refusals }
}
