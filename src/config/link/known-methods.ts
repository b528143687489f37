import { pathCovers } from '../../net/http-path.ts'
import type { Family } from '../types.ts'
import type { Partly, RawConfig } from '../raw-config.ts'
import { suggester, type Suggest } from '../words/suggest.ts'
import { familyNames } from '../families.ts'
import type { Row } from './rows.ts'

/** The method names that the rules of a family, or of one network, define. */
export interface KnownMethods {
  readonly exact: ReadonlySet<string>
  /** What stands before the star of each pattern. */
  readonly prefixes: readonly string[]
  readonly suggest: Suggest
}

/** Whether a name, or a `prefix*`, means at least one known method. */
export function isKnown(name: string, { exact, prefixes }: KnownMethods): boolean {
  if (!name.endsWith('*'))
    return (
      exact.has(name) ||
      prefixes.some(prefix => name.startsWith(prefix)) ||
      (name.includes('/') && [...exact].some(rule => rule.includes('{') && pathCovers(rule, name)))
    )
  const start = name.slice(0, -1)
  if (prefixes.some(prefix => prefix.startsWith(start) || start.startsWith(prefix))) return true
  for (const method of exact) if (method.startsWith(start)) return true
  return false
}

/** Answers what a network knows; those without rules of their own share their family's. */
export function methodsByNetwork(
  written: Partly<RawConfig>,
  rows: readonly Row[],
): (slug: string) => KnownMethods | null {
  const families = new Map<Family | undefined, Row[]>(familyNames().map(family => [family, []]))
  const networks = new Map<string, Row[]>()
  for (const row of rows) {
    if (row.network === null) families.get(row.family)?.push(row)
    else networks.set(row.network, [...(networks.get(row.network) ?? []), row])
  }
  const known = new Map<string | undefined, KnownMethods>()
  return slug => {
    const family = written.networks?.networks?.[slug]?.family
    if (family === undefined) return null
    const key = networks.has(slug) ? slug : `family ${family}`
    const answer =
      known.get(key) ?? knownMethods([...(families.get(family) ?? []), ...(networks.get(slug) ?? [])])
    known.set(key, answer)
    return answer
  }
}

function knownMethods(rows: readonly Row[]): KnownMethods {
  const names = rows.flatMap(({ name, whole }) =>
    whole.subscribe === undefined ? [name] : [name, whole.subscribe],
  )
  return {
    exact: new Set(names.filter(name => !name.endsWith('*'))),
    prefixes: names.filter(name => name.endsWith('*')).map(name => name.slice(0, -1)),
    suggest: suggester(names),
  }
}
