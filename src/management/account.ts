import { ENDPOINT_LIMIT } from '../ports/endpoints.ts'
import type { Account } from '../ports/accounts.ts'
import { usageUnreadable } from './errors.ts'
import { readParams } from './params.ts'
import type { AccountCaller, ServiceDeps, ServiceReply } from './types.ts'

/** service_account: the caller's plan, what is left of it, and how many endpoints it has. */
export async function showAccount(
  params: unknown,
  { account }: AccountCaller,
  deps: ServiceDeps,
): Promise<ServiceReply> {
  const read = readParams(params, {}, {})
  if ('error' in read) return read
  const { id: accountId, name, plan, createdAt } = account
  const endpoints = { used: await deps.endpoints.count(accountId), limit: ENDPOINT_LIMIT }
  const [quota, rate] = [await quotaNow(account, deps), rateOf(plan, deps)]
  if (quota === 'unreadable') return usageUnreadable()
  return { result: { accountId, name, plan, createdAt, quota, rate, endpoints } }
}

async function quotaNow(account: Account, deps: ServiceDeps) {
  const quota = await deps.quota(account)
  if (quota === null || quota === 'unreadable') return quota
  return { requests: quota.requests, used: quota.used, resetsAt: quota.resetsAt }
}

function rateOf(plan: string, { snapshot }: ServiceDeps) {
  const rate = Object.hasOwn(snapshot.plans, plan) ? snapshot.plans[plan]!.rate : null
  return rate === null ? null : { perSecond: rate.perSecond, burst: rate.burst }
}
