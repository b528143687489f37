import { nearest } from '../words/suggest.ts'
import type { Partly, RawConfig, RawRule } from '../raw-config.ts'

/** What a rule says that other files refer to; `subscribe` defines a method. */
type Key = 'needs' | 'tier' | 'subscribe' | 'dialects'

/**
 * Whether some rule cannot be read, or what was taken out of it can have been its `key` (perhaps misspelt). What no
 * rule says cannot be held against other files then: that would be a second sentence about the same finding.
 */
export function mayLack(written: Partly<RawConfig>, key: Key): boolean {
  const own = Object.values(written.networks?.networks ?? {})
  if (written.networks?.networks === undefined || own.includes(undefined)) return true
  const sets = [...familySets(written), ...own.map(network => network?.methods ?? {})]
  return sets.some(rules => rules === undefined || Object.values(rules).some(rule => lacks(rule, key)))
}

/** Whether a whole family of rules cannot be read. */
export function lacksFamily(written: Partly<RawConfig>): boolean {
  return written.methods?.families === undefined || familySets(written).includes(undefined)
}

/** Whether the tiers of some plan cannot be read. */
export function lacksTiers(written: Partly<RawConfig>): boolean {
  const plans = Object.values(written.plans?.plans ?? {})
  return plans.some(plan => plan?.tiers === undefined || plan.tiers.includes(undefined))
}

function familySets(
  written: Partly<RawConfig>,
): (Readonly<Record<string, Partly<RawRule> | undefined>> | undefined)[] {
  return Object.values(written.methods?.families ?? {})
}

function lacks(rule: Partly<RawRule> | undefined, key: Key): boolean {
  if (rule === undefined || rule.needs?.includes(undefined) === true) return true
  return Object.entries(rule).some(
    ([name, value]) => value === undefined && nearest(name, [key]) !== undefined,
  )
}
