import type { Finding } from '../finding.ts'
import type { Row } from './rows.ts'

/** Finds second rows of methods that a subscribe row defines already: beside it, or in a network of its family. */
export function subscriptionCheck(rows: readonly Row[]): (row: Row) => Finding[] {
  const names = new Set(rows.map(row => scoped(row, row.network, row.name)))
  const begins = new Map<string, string>()
  for (const row of rows)
    if (row.rule.subscribe !== undefined) begins.set(scoped(row, row.network, row.rule.subscribe), row.name)
  return row => [...checkOverride(row, begins), ...checkEnd(row, names)]
}

function scoped(row: Row, network: string | null, name: string): string {
  return JSON.stringify([row.family, network, name])
}

function checkOverride(row: Row, begins: ReadonlyMap<string, string>): Finding[] {
  const begin = row.network === null ? undefined : begins.get(scoped(row, null, row.name))
  if (begin === undefined) return []
  const message = `${row.name} is defined by the row ${begin}`
  return [{ file: row.file, path: row.path, at: 'key', message, hint: 'remove this row' }]
}

function checkEnd(row: Row, names: ReadonlySet<string>): Finding[] {
  const end = row.rule.subscribe
  if (end === undefined) return []
  if (!names.has(scoped(row, row.network, end)) && !names.has(scoped(row, null, end))) return []
  const message = `${end} has a row of its own`
  const hint = 'remove that row: this one defines it'
  return [{ file: row.file, path: [...row.path, 'subscribe'], at: 'value', message, hint }]
}
