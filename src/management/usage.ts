import { makeCursor, readCursor } from '../stores/sqlite/usage/sums/cursor.ts'
import { isPage, MAX_ROWS, STEP } from '../ports/ledger.ts'
import type { Column, SumsFailure, SumsPage, SumsQuery } from '../ports/ledger.ts'
import { cursor, flag, groupBy, oneOf, text, time, top } from './checks.ts'
import { endpointNotFound, invalidParams, usageBusy, usageTooLong } from './errors.ts'
import { readParams } from './params.ts'
import type { AccountCaller, ServiceDeps, ServiceError, ServiceReply } from './types.ts'

const DAY = 86_400
/** What is asked for when nothing is said, and how much may be: seconds. */
const RANGES = {
  hour: { usual: DAY, most: 31 * DAY },
  day: { usual: 30 * DAY, most: 366 * DAY },
} as const
/** The rows of the ledger itself. */
const EVERY_ROW: readonly Column[] = ['time', 'endpoint', 'network', 'method']
const required = { by: oneOf('hour', 'day') }
const common = { from: time, to: time, endpointId: text, detail: flag, groupBy, top, cursor }
const optional = { ...common, network: text, method: text }

interface Failed {
  readonly error: ServiceError
}
/** The members of a question. */
export type UsageAsked = Extract<
  ReturnType<typeof readParams<typeof required, typeof common>>,
  { values: unknown }
>['values']

/** What is asked about: an account, or for the operator all of them. */
export interface UsageScope {
  readonly accountId: string | null
  readonly network: string | null
  readonly method: string | null
}

/**
 * service_usage {from?, to?, by, endpointId?, network?, method?, detail?, groupBy?, top?, cursor?}: what the account used; `from` inclusive, `to`
 * exclusive. Rows are summed by `groupBy`; `top` leaves the largest groups and one row for the others. With `detail` each row also has bytesOut,
 * upstreamMs, refusalsByReason and latency. A reply with a `cursor` is followed by more.
 */
export async function showUsage(
  params: unknown,
  { account }: AccountCaller,
  deps: ServiceDeps,
): Promise<ServiceReply> {
  const read = readParams(params, required, optional)
  if ('error' in read) return read
  const { network = null, method = null, ...asked } = read.values
  const query = queryOf(asked, { accountId: account.id, network, method }, deps.now())
  if ('error' in query) return query
  // A deleted endpoint's usage stays the account's.
  if (query.endpointId !== null) {
    const label = await deps.endpoints.label(query.endpointId)
    if (label?.accountId !== account.id) return endpointNotFound()
  }
  return ask(query, deps)
}

/** The same for the operator, of one account or of all. */
export function readUsage(
  asked: UsageAsked,
  scope: UsageScope,
  deps: Pick<ServiceDeps, 'now'> & { readonly usage: Pick<ServiceDeps['usage'], 'sum'> },
): Promise<ServiceReply> | Failed {
  const query = queryOf(asked, scope, deps.now())
  return 'error' in query ? query : ask(query, deps)
}

async function ask(
  query: SumsQuery,
  { usage }: { readonly usage: Pick<ServiceDeps['usage'], 'sum'> },
): Promise<ServiceReply> {
  const page = await usage.sum(wholeSteps(query))
  return isPage(page) ? { json: encode(query, page) } : failed(page)
}

/** The query over the whole of its first and last hour or day, where rows are named for those. */
function wholeSteps(query: SumsQuery): SumsQuery {
  const { from, to, by, groupBy } = query
  if (!groupBy.includes('time')) return query
  const step = STEP[by]
  return { ...query, from: from - (from % step), to: Math.ceil(to / step) * step }
}

function queryOf(values: UsageAsked, scope: UsageScope, now: number): SumsQuery | Failed {
  const { by, endpointId = null, detail = false, top = null, cursor } = values
  const columns = values.groupBy ?? EVERY_ROW
  const asked = { ...scope, endpointId, by, groupBy: columns, detail, top }
  if (detail && columns.includes('reason')) return invalidParams('detail does not go with groupBy "reason"')
  const { usual, most } = RANGES[by]
  const to = values.to ?? now
  const from = values.from ?? Math.max(0, to - usual)
  const query = cursor === undefined ? { ...asked, from, to, after: null } : continued(cursor, asked, values)
  if (query === null) return invalidParams('cursor is not one of a reply to this query')
  if (query.from >= query.to) return invalidParams('from must be before to')
  if (query.to - query.from > most)
    return invalidParams(`by ${by}, from and to may be at most ${most / DAY} days apart`)
  if (top !== null && (top + 1) * stepsOf(query) > MAX_ROWS)
    return invalidParams(`top is too large for that many steps of time: a reply has at most ${MAX_ROWS} rows`)
  return query
}

/** The query that a cursor goes on with: its times are those of the first page. */
function continued(
  cursor: string,
  asked: Omit<SumsQuery, 'from' | 'to' | 'after'>,
  { from: givenFrom, to: givenTo }: { readonly from?: number; readonly to?: number },
): SumsQuery | null {
  const read = asked.top === null ? readCursor(cursor, asked) : null
  if (read === null) return null
  const { from, to, after } = read
  const query = { ...asked, from, to, after }
  // Either the times that were asked for, or those of the reply.
  const [one, other] = [
    wholeSteps(query),
    wholeSteps({ ...query, from: givenFrom ?? from, to: givenTo ?? to }),
  ]
  return one.from === other.from && one.to === other.to ? query : null
}

function stepsOf({ from, to, by, groupBy }: SumsQuery): number {
  return groupBy.includes('time') ? Math.floor((to - 1) / STEP[by]) - Math.floor(from / STEP[by]) + 1 : 1
}

function failed(failure: SumsFailure): Failed {
  if (failure === 'busy') return usageBusy()
  if (failure === 'too_long') return usageTooLong()
  return invalidParams('this makes too many groups; ask for less time, one endpoint or fewer columns')
}

function encode(query: SumsQuery, { rows, last, isStale }: SumsPage): string {
  const { from, to, by } = wholeSteps(query)
  const cursor = last === null ? '' : `,"cursor":"${makeCursor(query, last)}"`
  const stale = isStale === true ? ',"stale":true' : ''
  return `{"from":${from},"to":${to},"by":"${by}","rows":${rows}${cursor}${stale}}`
}
