import { detailedRows } from '../usage/detail.ts'
import type { DetailedRow } from '../usage/detail.ts'
import type { UsageQuery, UsageRow } from '../usage/types.ts'
import { flag, oneOf, text, time } from './checks.ts'
import { endpointNotFound, invalidParams } from './errors.ts'
import { readParams } from './params.ts'
import type { AccountCaller, ServiceDeps, ServiceReply } from './types.ts'

const DAY = 86_400
// Of a year by the hour the reply would be hundreds of megabytes.
const RANGES = {
  hour: { usual: DAY, most: 31 * DAY },
  day: { usual: 30 * DAY, most: 366 * DAY },
} as const

/**
 * service_usage {from?, to?, by, endpointId?, detail?}: the account's rows of the ledger; `from` inclusive, `to` exclusive. With
 * `detail` each row also says bytesOut, upstreamMs and refusalsByReason.
 */
export function showUsage(params: unknown, { account }: AccountCaller, deps: ServiceDeps): ServiceReply {
  const read = readParams(
    params,
    { by: oneOf('hour', 'day') },
    { from: time, to: time, endpointId: text, detail: flag },
  )
  if ('error' in read) return read
  const { by, endpointId } = read.values
  const { usual, most } = RANGES[by]
  const to = read.values.to ?? deps.now()
  const from = read.values.from ?? Math.max(0, to - usual)
  if (from >= to) return invalidParams('from must be before to')
  if (to - from > most) return invalidParams(`by ${by}, from and to may be at most ${most / DAY} days apart`)

  const query: UsageQuery = { accountId: account.id, from, to, by }
  // A deleted endpoint's usage stays the account's.
  if (endpointId !== undefined && deps.accounts.endpointLabel(endpointId)?.accountId !== account.id)
    return endpointNotFound()
  const asked = endpointId === undefined ? query : { ...query, endpointId }
  const rows =
    read.values.detail === true
      ? detailedRows(deps.usage, asked).map(describeInDetail)
      : deps.usage.rows(asked).map(describe)
  return { result: { from, to, by, rows } }
}

function describeInDetail(row: DetailedRow) {
  const { bytesOut, upstreamMs, refusalsByReason } = row
  return { ...describe(row), bytesOut, upstreamMs, refusalsByReason }
}

function describe({ time, endpointId, network, method, calls, requests, errors, refusals }: UsageRow) {
  return { time, endpointId, network, method, calls, requests, errors, refusals }
}
