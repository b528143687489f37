/** Rows that extend others and are probably misspelled: they add a method, and the one that was meant keeps its price. */
import { familyNames } from '../families.ts'
import type { Finding } from '../finding.ts'
import type { Partly, RawConfig } from '../raw-config.ts'
import { misspelled } from '../words/suggest.ts'
import type { Row } from './rows.ts'

/** What a row has to be looked at for. */
type Placed = Pick<Finding, 'file' | 'path'> & { readonly name: string }

/** Warnings about rows that are none of those `known`, and close to one of them. */
export function rowsAlike(rows: readonly Placed[], known: readonly string[]): Finding[] {
  const there = new Set(known)
  // Networks often have the same rows.
  const matches = new Map<string, string | undefined>()
  const matchOf = (name: string): string | undefined => {
    if (!matches.has(name)) matches.set(name, misspelled(name, known))
    return matches.get(name)
  }
  return rows.flatMap(({ file, path, name }) => {
    if (there.has(name) || name.endsWith('*')) return []
    const match = matchOf(name)
    if (match === undefined) return []
    return [
      {
        file,
        path,
        at: 'key',
        severity: 'warning',
        kind: 'row-like-another',
        message: `${name} adds a method; the row ${match} that it is laid over stays as it is`,
        hint: `did you mean "${match}"?`,
      } as const,
    ]
  })
}

/** The same of the rules of networks, which are laid over those of their family. */
export function checkAlike(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  const own = rows.filter(({ network }) => network !== null)
  return familyNames().flatMap(name =>
    rowsAlike(
      own.filter(({ family }) => family === name),
      Object.keys(written.methods?.families?.[name] ?? {}),
    ),
  )
}
