/** Lines of a bill: what each account used in a period, by plan, and what Stripe is told of it. */
import type { LinesQuery, Split, UsageLine, UsedWindow } from '../../ports/ledger.ts'
import { windowAt } from '../../limits/window.ts'
import type { Served } from '../../http/admin/served.ts'
import type { Names } from '../../stores/sqlite/accounts/names.ts'
import type { OpenReader } from '../../stores/sqlite/usage/reader.ts'
import type { Span } from './period.ts'

/** A line with names. */
export interface BillLine extends Omit<UsageLine, 'of' | 'plan'>, Span {
  readonly name: string | null
  readonly externalId: string | null
  /** The plan at the time; null where an older version has recorded it. */
  readonly plan: string | null
  readonly endpointId?: string
  readonly endpointName?: string | null
  readonly network?: string
  readonly method?: string
}

/** What lines are split by, other than by days. */
export type BillSplit = Exclude<Split, 'day'>

/** The lines of a period, by account and plan. */
export function* billLines(
  reader: OpenReader,
  names: Names,
  span: Span,
  split: BillSplit | null,
  account?: string,
): Generator<BillLine> {
  const { from, to } = span
  for (const { of, plan, accountId, ...sums } of reader.lines(queryOf(span, split, account))) {
    const owner = names.accounts.get(accountId)
    yield {
      from,
      to,
      accountId,
      name: owner?.name ?? null,
      externalId: owner?.externalId ?? null,
      plan: plan === '' ? null : plan,
      ...named(split, String(of), names),
      ...sums,
    }
  }
}

function named(split: BillSplit | null, of: string, names: Names): Partial<BillLine> {
  if (split === null) return {}
  return split === 'endpoint'
    ? { endpointId: of, endpointName: names.endpoints.get(of) ?? null }
    : { [split]: of }
}

function queryOf(span: Span, split: Split | null, accountId: string | undefined): LinesQuery {
  return { ...span, split, ...(accountId === undefined ? {} : { accountId }) }
}

/** Milliseconds behind its end after which nothing more comes to a day: calls are charged when they begin, and given back when they fail. */
const SETTLED = 3_600_000

/** The body of a POST to Stripe's /v2/billing/meter_events. */
export interface MeterEvent {
  readonly event_name: 'tollgate_requests'
  /** One for each account and day, whenever it is asked for: an event that is sent again is not counted again. */
  readonly identifier: string
  readonly timestamp: string
  readonly payload: { readonly stripe_customer_id: string; readonly value: string }
}

/** What has no events, as far as is known when all have been read. */
export interface WithoutEvents {
  /** Accounts that are no customer of Stripe's. */
  readonly unknown: Set<string>
  /** The first day that is not over, or for less than an hour, in Unix seconds. */
  open: number | null
}

/** A meter event for each account and each day that is over; `without` collects what has none. */
export function* meterEvents(
  reader: OpenReader,
  names: Names,
  span: Span,
  now: number,
  without: WithoutEvents,
  account?: string,
): Generator<MeterEvent> {
  for (const { accountId, days } of byAccount(reader.lines(queryOf(span, 'day', account)))) {
    const customer = customerOf(accountId, names)
    if (customer === null) without.unknown.add(accountId)
    else
      for (const [day, requests] of [...days].sort(([a], [b]) => a - b)) {
        const end = (day + 86_400) * 1000
        if (requests === 0) continue
        if (end + SETTLED > now) {
          without.open = Math.min(without.open ?? day, day)
          continue
        }
        yield {
          event_name: 'tollgate_requests',
          identifier: `tollgate-${accountId}-${new Date(day * 1000).toISOString().slice(0, 10)}`,
          // Within the day, so that it is billed with it.
          timestamp: new Date(end - 1000).toISOString(),
          payload: { stripe_customer_id: customer, value: String(requests) },
        }
      }
  }
}

/** What one account used of each day, on whichever plan. */
interface Days {
  readonly accountId: string
  readonly days: Map<number, number>
}

/** Lines come account by account. */
function* byAccount(lines: Iterable<UsageLine>): Generator<Days> {
  let last: Days | null = null
  for (const { accountId, of, requests } of lines) {
    if (last !== null && last.accountId !== accountId) {
      yield last
      last = null
    }
    last ??= { accountId, days: new Map() }
    const day = Number(of)
    last.days.set(day, (last.days.get(day) ?? 0) + requests)
  }
  if (last !== null) yield last
}

/** The label `stripe`, or an external id that is one of Stripe's. */
function customerOf(accountId: string, { accounts }: Names): string | null {
  const account = accounts.get(accountId)
  const known = account?.labels['stripe'] ?? account?.externalId ?? ''
  return known.startsWith('cus_') ? known : null
}

/** What an account has used of a quota window. */
export interface WindowLine extends UsedWindow {
  readonly name: string | null
  readonly externalId: string | null
  /** The account's plan now, and its quota; null where it has none. */
  readonly plan: string | null
  readonly quota: number | null
  /** When the window ends, in Unix seconds; null where the plan of now has other windows. */
  readonly end: number | null
}

/** Windows that began within a span; without one, those of now. */
export function* windowLines(
  reader: OpenReader,
  names: Names,
  plans: Served['plans'],
  span: Span | null,
  now: number,
  account?: string,
): Generator<WindowLine> {
  const query = {
    ...(span ?? { from: 0, to: now / 1000 + 1 }),
    ...(account === undefined ? {} : { accountId: account }),
  }
  for (const used of reader.windows(query)) {
    const owner = names.accounts.get(used.accountId)
    const quota = (owner === undefined ? null : plans[owner.plan]?.quota) ?? null
    const at = (time: number) =>
      quota === null || owner === undefined ? null : windowAt(quota.every, owner.createdAt, time)
    const own = at(used.start * 1000)
    const isCurrent = at(now)?.start === used.start
    if (span === null && !isCurrent) continue
    yield {
      ...used,
      name: owner?.name ?? null,
      externalId: owner?.externalId ?? null,
      plan: owner?.plan ?? null,
      quota: quota?.requests ?? null,
      end: own?.start === used.start ? own.end : null,
    }
  }
}
