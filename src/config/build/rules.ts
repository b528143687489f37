import { emptyRecord } from '../record.ts'
import type { LocalAnswer, RuleConfig } from '../types.ts'
import type { RawRule, RawRules } from '../raw-config.ts'

/** Rules by name, as written but for `answer`. */
export function buildRules(rules: RawRules = {}): Readonly<Record<string, RuleConfig>> {
  const result = emptyRecord<RuleConfig>()
  for (const [name, rule] of Object.entries(rules)) result[name] = buildRule(rule)
  return result
}

function buildRule({ answer, block, ...rule }: RawRule): RuleConfig {
  return {
    ...rule,
    ...(block === undefined ? {} : { block: { ...block } }),
    // YAML reads `answer: false` as the boolean, which is how one wants to write it.
    ...(answer === undefined ? {} : { answer: String(answer) as LocalAnswer }),
  }
}
