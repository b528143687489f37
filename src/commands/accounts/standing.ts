/** How an account stands: its plan's rate, and what it has used of its quota. */
import { requestUnits } from '../../config/words/units.ts'
import type { AccountRecord } from '../../ports/accounts.ts'
import { STEP } from '../../ports/ledger.ts'
import type { Endpoint } from '../../ports/endpoints.ts'
import { windowAt } from '../../limits/window.ts'
import { dayAt } from '../../limits/window.ts'
import type { Plan } from '../../snapshot/types.ts'
import type { Io } from '../command.ts'
import type { Known } from '../known.ts'
import { moment } from '../output/table.ts'
import { openReaderOf } from '../usage/reader.ts'

/** What there is of a quota, and how much of it is used. */
export interface Used {
  readonly requests: number
  readonly used: number
  readonly resetsAt: number
}

/** The limits of the plan and the used part of its quota, null where it has no such limit; or why they are not known. */
export type Standing =
  { readonly rate: Plan['rate']; readonly quota: Used | null } | { readonly limitsUnknown: string }

/** Of every charge that is on disk. */
export async function standingOf(account: AccountRecord, known: Known, io: Io): Promise<Standing> {
  const plan = await known.limits(account.plan)
  if (typeof plan === 'string') return { limitsUnknown: plan }
  const { rate } = plan
  if (plan.quota === null) return { rate, quota: null }
  const { start, end } = windowAt(plan.quota.every, account.createdAt, Date.now())
  const windows = { from: start, to: start + 1 }
  const reader = await openReaderOf(known, io, { accountId: account.id, rows: null, windows })
  try {
    const [window] = reader.windows({ accountId: account.id, ...windows })
    return { rate, quota: { requests: plan.quota.requests, used: window?.requests ?? 0, resetsAt: end } }
  } finally {
    reader.close()
  }
}

/** What an endpoint has used of its daily limit today; null where it has none. */
export async function todayOf(
  { id, accountId, dailyLimit }: Endpoint,
  known: Known,
  io: Io,
): Promise<Used | null> {
  if (dailyLimit === null) return null
  const { start, end } = dayAt(Date.now())
  const query = { accountId, endpointId: id, from: start, to: end, by: 'day' } as const
  const reader = await openReaderOf(known, io, {
    accountId,
    rows: { from: start, to: end, step: STEP.day, detail: false },
    windows: null,
  })
  try {
    let used = 0
    for (const { requests } of reader.rows(query)) used += requests
    return { requests: dailyLimit, used, resetsAt: end }
  } finally {
    reader.close()
  }
}

/** The same for a person. */
export function usedText({ requests, used, resetsAt }: Used): string {
  return `${used} of ${requestUnits(requests)} used, resets ${moment(resetsAt)}`
}

/** How an account stands, for a person. */
export function standingLines(standing: Standing): string[] {
  if ('limitsUnknown' in standing) {
    const why = `unknown: ${standing.limitsUnknown}`
    return [`quota     ${why}`, `rate      ${why}`]
  }
  const { rate, quota } = standing
  const said = quota === null ? 'none' : usedText(quota)
  const speed = rate === null ? 'none' : `${requestUnits(rate.perSecond)} per second, bursts of ${rate.burst}`
  return [`quota     ${said}`, `rate      ${speed}`]
}
