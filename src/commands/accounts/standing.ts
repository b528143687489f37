/** How an account stands: its plan's rate, and what it has used of its quota. */
import type { AccountRecord } from '../../ports/accounts.ts'
import { windowAt } from '../../limits/account-meter.ts'
import type { Plan } from '../../snapshot/types.ts'
import type { Io } from '../command.ts'
import type { Known } from '../known.ts'
import { moment } from '../output/table.ts'
import { openReaderOf } from '../usage/reader.ts'

/** What the plan allows, and what is used of it; null where the plan is not known, or has no such limit. */
export interface Standing {
  readonly rate: Plan['rate']
  readonly quota: { readonly requests: number; readonly used: number; readonly resetsAt: number } | null
}

/** Of every charge that is on disk. */
export async function standingOf(account: AccountRecord, known: Known, io: Io): Promise<Standing> {
  const plan = (await known.snapshot())?.plans[account.plan]
  const rate = plan?.rate ?? null
  if (plan === undefined || plan.quota === null) return { rate, quota: null }
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

/** The same for a person. */
export function standingLines({ rate, quota }: Standing): string[] {
  const said =
    quota === null
      ? 'none'
      : `${quota.used} of ${quota.requests} requests used, resets ${moment(quota.resetsAt)}`
  const speed = rate === null ? 'none' : `${rate.perSecond} requests per second, bursts of ${rate.burst}`
  return [`quota     ${said}`, `rate      ${speed}`]
}
