import { wordsOf } from '../families.ts'
import type { Finding } from '../finding.ts'
import type { Row } from './rows.ts'

/** Keys of a rule that its family does not read. */
export function checkKeys({ file, path, family, rule }: Row): Finding[] {
  if (family === undefined) return []
  const { ruleKeys, unusedKeys, called } = wordsOf(family)
  const isUsed = (key: string): boolean => ruleKeys?.has(key) !== false && !unusedKeys.includes(key)
  return Object.entries(rule)
    .filter(([key, value]) => value !== undefined && !isUsed(key))
    .map(([key]) => ({
      file,
      path: [...path, key],
      at: 'key',
      message: `"${key}" means nothing on ${called}`,
      hint: 'remove it',
    }))
}
