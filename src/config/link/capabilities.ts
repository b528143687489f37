import type { Row } from './rows.ts'

/** The usual capabilities, and whatever some rule needs. */
export function capabilitiesIn(rows: readonly Row[]): Set<string> {
  const words = rows.flatMap(({ rule }) => (rule.needs ?? []).filter(word => word !== undefined))
  return new Set(['archive', 'trace', 'debug', 'txpool', ...words.filter(word => word !== 'ws')])
}
