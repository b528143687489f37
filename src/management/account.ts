import { ENDPOINT_LIMIT } from '../stores/sqlite/accounts/limit.ts'
import type { Account } from '../stores/sqlite/accounts/types.ts'
import { usageUnreadable } from './errors.ts'
import { readParams } from './params.ts'
import type { AccountCaller, ServiceDeps, ServiceReply } from './types.ts'

/** service_account: the caller's plan, what is left of it, and how many endpoints it has. */
export function showAccount(params: unknown, { account }: AccountCaller, deps: ServiceDeps): ServiceReply {
  const read = readParams(params, {}, {})
  if ('error' in read) return read
  const { id: accountId, name, plan, createdAt } = account
  const endpoints = { used: deps.accounts.endpointCount(accountId), limit: ENDPOINT_LIMIT }
  const [quota, rate] = [quotaNow(account, deps), rateOf(plan, deps)]
  if (quota === 'unreadable') return usageUnreadable()
  return { result: { accountId, name, plan, createdAt, quota, rate, endpoints } }
}

function quotaNow(account: Account, deps: ServiceDeps) {
  const quota = deps.quota(account)
  if (quota === null || quota === 'unreadable') return quota
  return { requests: quota.requests, used: quota.used, resetsAt: quota.resetsAt }
}

function rateOf(plan: string, { snapshot }: ServiceDeps) {
  const rate = Object.hasOwn(snapshot.plans, plan) ? snapshot.plans[plan]!.rate : null
  return rate === null ? null : { perSecond: rate.perSecond, burst: rate.burst }
}
