import type { Finding } from '../finding.ts'
import type { Partly, RawConfig, RawPlan } from '../raw-config.ts'
import { named, type Row } from './rows.ts'

/** The missing plan of the public route, and costs that no bucket could ever pay. */
export function checkPlans(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  return [...checkPublic(written), ...checkNotification(written), ...checkCosts(written, rows)]
}

function checkPublic(written: Partly<RawConfig>): Finding[] {
  const plans = written.plans?.plans
  const [open] = named(written.networks?.networks).find(([, network]) => network.public === true) ?? []
  if (plans === undefined || open === undefined || 'public' in plans) return []
  const message = `the plan "public" is missing, which the public route of ${open} needs`
  const hint = 'add it, or write "public: false" there'
  return [{ file: 'plans.yaml', path: ['plans'], at: 'key', message, hint }]
}

function checkNotification(written: Partly<RawConfig>): Finding[] {
  const cost = written.methods?.notification?.cost ?? 0
  const short = tooSmall(named(written.plans?.plans), cost)
  if (short === null) return []
  return [{ file: 'methods.yaml', path: ['notification', 'cost'], at: 'value', ...short }]
}

function checkCosts(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  const plans = named(written.plans?.plans)
  return rows.flatMap(({ file, path, rule, whole }): Finding[] => {
    const { cost = 1, tier = 'any', enabled = true } = whole
    const able = plans.filter(([, plan]) => plan.tiers?.includes(tier))
    const short = enabled ? tooSmall(able, cost) : null
    if (short === null) return []
    // A network's rule may take the cost from its family's and change only who pays it.
    const key = rule.cost !== undefined ? 'cost' : rule.tier !== undefined ? 'tier' : null
    return key === null ? [] : [{ file, path: [...path, key], at: 'value', ...short }]
  })
}

/** Of the plans whose bucket cannot hold `cost`, the one with the smallest. */
function tooSmall(
  plans: readonly [string, Partly<RawPlan>][],
  cost: number,
): { message: string; hint: string } | null {
  const bursts = plans.flatMap(([name, { rate }]) =>
    rate?.burst === undefined ? [] : [{ name, burst: rate.burst }],
  )
  const least = bursts.sort((a, b) => a.burst - b.burst)[0]
  if (least === undefined || cost <= least.burst) return null
  return {
    message: `the cost ${cost} is above the burst of plan ${least.name} (${least.burst})`,
    hint: 'it could never pass',
  }
}
