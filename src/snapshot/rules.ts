/** Which rules a network has: its family's, laid over by its own, with defaults filled in. */
import type { Config, NetworkConfig, RuleConfig } from '../config/types.ts'
import type { Rule } from './types.ts'

/** A row with every default in place. Subscribe rows are made safe to look up by `unsubscribeRule`. */
export function fillRule(match: string, rule: RuleConfig): Rule {
  return {
    match,
    cost: rule.cost ?? 1,
    tier: rule.tier ?? 'any',
    needs: rule.needs ?? [],
    params: rule.params ?? null,
    block: rule.block ?? null,
    reads: rule.reads ?? 'none',
    retry: rule.retry ?? 'never',
    hedge: rule.hedge ?? false,
    timeout: rule.timeout ?? 'normal',
    answer: rule.answer ?? null,
    subscribe: rule.subscribe ?? null,
    unsubscribes: null,
    sticky: rule.sticky ?? null,
    nullIsLag: rule.nullIsLag ?? false,
    commitment: rule.commitment ?? null,
    jsonParams: rule.jsonParams ?? [],
    maxRange: rule.maxRange ?? null,
    tracers: rule.tracers ?? null,
  }
}

/** The row that a subscribe row defines for the method that ends it: free, and gated like its beginning. */
export function unsubscribeRule(begin: Rule, name: string): Rule {
  return fillRuleOf(
    name,
    { cost: 0, tier: begin.tier, needs: begin.needs, params: [1, 1], timeout: 'fast' },
    begin.match,
  )
}

function fillRuleOf(match: string, rule: RuleConfig, unsubscribes: string): Rule {
  return { ...fillRule(match, rule), unsubscribes }
}

/** All enabled rules of a network, unsubscribe rows included, in the order they are written. */
export function rulesOf(network: NetworkConfig, config: Pick<Config, 'families'>): Rule[] {
  const family = config.families[network.family]
  const merged = new Map<string, RuleConfig>()
  for (const [match, rule] of Object.entries(family))
    if (rule.networks?.includes(network.slug) ?? true) merged.set(match, rule)
  for (const [match, own] of Object.entries(network.methods))
    // A rule of the network itself applies to it, whatever networks the family's row names.
    merged.set(match, { ...family[match], ...own })
  return [...merged].flatMap(([match, rule]) => {
    if (rule.enabled === false) return []
    const filled = fillRule(match, rule)
    return filled.subscribe === null ? [filled] : [filled, unsubscribeRule(filled, filled.subscribe)]
  })
}
