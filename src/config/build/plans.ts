import type { ManagementKeys, PlanConfig } from '../types.ts'
import { duration } from '../words/units.ts'
import { buildThresholds } from './alerts.ts'
import type { RawPlan } from '../raw-config.ts'

/** The plans with their defaults, in the order of the file; `managementKeys` is the gateway's default. */
export function buildPlans(
  plans: Readonly<Record<string, RawPlan>>,
  managementKeys: ManagementKeys,
): PlanConfig[] {
  return Object.entries(plans).map(([name, plan]) => ({
    name,
    tiers: plan.tiers,
    rate: plan.rate === undefined ? null : { ...plan.rate },
    quota: buildQuota(plan.quota),
    maxBatch: plan.maxBatch ?? 100,
    alerts: plan.alerts === undefined ? null : { quota: buildThresholds(plan.alerts.quota) },
    ws: { connections: plan.ws?.connections ?? 5, subscriptions: plan.ws?.subscriptions ?? 20 },
    managementKeys: plan.management?.keys ?? managementKeys,
  }))
}

function buildQuota(quota: RawPlan['quota']): PlanConfig['quota'] {
  if (quota === undefined) return null
  return { requests: quota.requests, every: quota.every === 'month' ? 'month' : duration(quota.every)! }
}
