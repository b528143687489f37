/** How an account stands: its plan's rate, and what it has used of its quota. */
import type { AccountRecord } from '../../ports/accounts.ts'
import type { Endpoint } from '../../ports/endpoints.ts'
import { windowAt } from '../../limits/account-meter.ts'
import { dayAt } from '../../limits/endpoint-day.ts'
import type { Plan } from '../../snapshot/types.ts'
import { openUsageReader } from '../../stores/sqlite/usage/reader.ts'
import type { Known } from '../known.ts'
import { moment } from '../output/table.ts'

/** What there is of a quota, and how much of it is used. */
export interface Used {
  readonly requests: number
  readonly used: number
  readonly resetsAt: number
}

/** What the plan allows, and what is used of it; null where the plan is not known, or has no such limit. */
export interface Standing {
  readonly rate: Plan['rate']
  readonly quota: Used | null
}

/** Of every charge that is on disk. */
export async function standingOf(account: AccountRecord, known: Known): Promise<Standing> {
  const plan = (await known.snapshot())?.plans[account.plan]
  const rate = plan?.rate ?? null
  if (plan === undefined || plan.quota === null) return { rate, quota: null }
  const { start, end } = windowAt(plan.quota.every, account.createdAt, Date.now())
  const reader = openUsageReader(known.gateway.dataDir)
  try {
    const [window] = reader.windows({ accountId: account.id, from: start, to: start + 1 })
    return { rate, quota: { requests: plan.quota.requests, used: window?.requests ?? 0, resetsAt: end } }
  } finally {
    reader.close()
  }
}

/** What an endpoint has used of its daily limit today; null where it has none. */
export function todayOf({ id, accountId, dailyLimit }: Endpoint, known: Known): Used | null {
  if (dailyLimit === null) return null
  const { start, end } = dayAt(Date.now())
  const reader = openUsageReader(known.gateway.dataDir)
  try {
    let used = 0
    const query = { accountId, endpointId: id, from: start, to: end, by: 'day' } as const
    for (const { requests } of reader.rows(query)) used += requests
    return { requests: dailyLimit, used, resetsAt: end }
  } finally {
    reader.close()
  }
}

/** The same for a person. */
export function usedText({ requests, used, resetsAt }: Used): string {
  return `${used} of ${requests} requests used, resets ${moment(resetsAt)}`
}

/** How an account stands, for a person. */
export function standingLines({ rate, quota }: Standing): string[] {
  const said = quota === null ? 'none' : usedText(quota)
  const speed = rate === null ? 'none' : `${rate.perSecond} requests per second, bursts of ${rate.burst}`
  return [`quota     ${said}`, `rate      ${speed}`]
}
