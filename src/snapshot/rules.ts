/** Which rules a network has: its family's, laid over by its own, with defaults filled in. */
import { carriesTransaction } from '../config/sending/carries-transaction.ts'
import type { Config, Family, NetworkConfig, RuleConfig } from '../config/types.ts'
import { switchedOffWith, withSameReads } from './same-reads.ts'
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
    sends: rule.sends ?? (rule.retry === 'dedupe' || isKnownToSend(match, rule)),
    broadcast: rule.broadcast ?? null,
    share: rule.share ?? true,
    cache: rule.cache ?? [],
    shows: rule.shows?.split('.') ?? null,
    is: rule.is === 'none' ? 'none' : (rule.is?.split('.') ?? null),
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

/** By its name; user operations go to bundlers, which take no transactions. */
function isKnownToSend(match: string, { needs = [] }: RuleConfig): boolean {
  return carriesTransaction(match) && !needs.includes('bundler')
}

function rulesOfRow(match: string, rule: RuleConfig): readonly Rule[] {
  if (rule.enabled === false) return []
  const own = fillRule(match, rule)
  return own.subscribe === null ? [own] : [own, unsubscribeRule(own, own.subscribe)]
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

/** The rules of each family by the row they come from: made once, and shared by all its networks. */
export type FamilyRules = Readonly<Record<Family, ReadonlyMap<string, readonly Rule[]>>>

/** What the families' rows come to. */
export function familyRules({ families }: Pick<Config, 'families'>): FamilyRules {
  const rules = (family: Family): ReadonlyMap<string, readonly Rule[]> =>
    new Map(Object.entries(families[family]).map(([match, rule]) => [match, rulesOfRow(match, rule)]))
  const names = Object.keys(families) as Family[]
  return Object.fromEntries(names.map(name => [name, rules(name)])) as FamilyRules
}

/** All enabled rules of a network, unsubscribe rows included, in the order they are written. */
export function rulesOf(
  network: NetworkConfig,
  config: Pick<Config, 'families'>,
  shared: FamilyRules,
): Rule[] {
  const family = config.families[network.family]
  return [...mergedRules(network, config)].flatMap(([match, rule]) =>
    rule === family[match] ? shared[network.family].get(match)! : rulesOfRow(match, rule),
  )
}

/** Names and patterns that the network switches off, and so keeps from any wider pattern; subscribe rows with what ends them. */
export function disabledRules(
  network: NetworkConfig,
  config: Pick<Config, 'families'>,
  enabled: readonly Rule[],
): string[] {
  const off = [...mergedRules(network, config)].filter(([, rule]) => rule.enabled === false)
  const names = off.flatMap(([match, { subscribe }]) =>
    subscribe === undefined ? [match] : [match, subscribe],
  )
  const served = new Set(enabled.map(({ match }) => match))
  return [...new Set(names)].filter(name => !served.has(name))
}

/** The rules that a network has not, with the reason as a sentence for the operator. */
export function absentRules(
  network: NetworkConfig,
  config: Pick<Config, 'families'>,
): [match: string, why: string][] {
  const merged = mergedRules(network, config)
  const off = [...merged].filter(([, rule]) => rule.enabled === false)
  const elsewhere = Object.entries(config.families[network.family]).filter(([match]) => !merged.has(match))
  return [
    ...off.map(([match]): [string, string] => [match, whyOff(match, network, config)]),
    ...elsewhere.map(([match, rule]): [string, string] => [match, whyElsewhere(rule)]),
  ]
}

function whyOff(match: string, { family, methods }: NetworkConfig, config: Pick<Config, 'families'>): string {
  const written = { ...config.families[family], ...methods }
  const other = switchedOffWith(match, written)
  return other === null
    ? 'its rule says enabled: false'
    : `${other}, which reads the same, says enabled: false`
}

function whyElsewhere({ networks = [], dialects = [] }: RuleConfig): string {
  const where = [
    ...networks,
    ...(dialects.length === 0
      ? []
      : [`${dialects.length === 1 ? 'the dialect' : 'the dialects'} ${dialects.join(', ')}`]),
  ]
  return where.length === 0 ? 'its rule names no network' : `its rule is for ${where.join(' and ')} only`
}

/** Whether a family's row is one of the network's. */
function applies({ networks, dialects }: RuleConfig, { slug, dialect }: NetworkConfig): boolean {
  if (networks === undefined && dialects === undefined) return true
  return networks?.includes(slug) === true || (dialect !== null && dialects?.includes(dialect) === true)
}

function mergedRules(
  network: NetworkConfig,
  config: Pick<Config, 'families'>,
): ReadonlyMap<string, RuleConfig> {
  const family = config.families[network.family]
  const merged = new Map<string, RuleConfig>()
  for (const [match, rule] of Object.entries(family)) if (applies(rule, network)) merged.set(match, rule)
  for (const [match, own] of Object.entries(network.methods))
    // A rule of the network itself applies to it, whatever networks the family's row names.
    merged.set(match, { ...family[match], ...own })
  return withSameReads(merged)
}
