import { familyNames } from '../families.ts'
import type { Finding } from '../finding.ts'
import type { Path } from '../yaml/path.ts'
import { show } from '../words/show.ts'
import { suggester, type Suggest } from '../words/suggest.ts'
import type { Partly, RawConfig } from '../raw-config.ts'
import { checkBroadcast } from '../sending/check.ts'
import { checkCache } from './cached-rules.ts'
import { checkShare } from './shared-rules.ts'
import { lacksFamily, mayLack } from './gaps.ts'
import { checkHash } from './shown-hash.ts'
import { checkKeys } from './rule-keys.ts'
import { checkPath, checkTwins } from './http-rules.ts'
import { checkName } from './method-names.ts'
import { named, type Row } from './rows.ts'
import { subscriptionCheck } from './subscriptions.ts'

/** What single rules get wrong: names, parameter counts, unsubscribe methods, networks; and dialects that no rule knows. */
export function checkRules(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  const checkNetworks = networkCheck(written)
  const checkSubscription = subscriptionCheck(rows)
  const single = rows.flatMap(row => [
    ...checkNamed(row),
    ...checkParams(row),
    ...checkCache(row),
    ...checkShare(row),
    ...checkHash(row),
    ...checkBroadcast(row),
    ...checkSubscription(row),
    ...checkNetworks(row),
  ])
  return [...single, ...checkTwins(rows), ...checkDialects(written, rows)]
}

/** A dialect is a free word: one that no rule names is likely to be misspelt. */
function checkDialects(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  if (lacksFamily(written) || mayLack(written, 'dialects')) return []
  const known = new Set(rows.flatMap(({ rule }) => rule.dialects ?? []).filter(word => word !== undefined))
  const suggest = suggester(known)
  return named(written.networks?.networks).flatMap(([slug, { dialect }]) => {
    if (dialect === undefined || known.has(dialect)) return []
    const hint =
      suggest(dialect) ?? (known.size === 0 ? undefined : `they name ${[...known].sort().join(', ')}`)
    return [
      {
        file: 'networks.yaml',
        path: ['networks', slug, 'dialect'],
        at: 'value',
        hint,
        message: `no rule names the dialect ${show(dialect)}`,
        severity: 'warning',
        kind: 'unknown-dialect',
      },
    ]
  })
}

function checkNamed(row: Row): Finding[] {
  const findings = checkName(row)
  return findings.length > 0 ? findings : [...checkPath(row), ...checkKeys(row)]
}

function checkParams(row: Row): Finding[] {
  const [min, max] = row.rule.params ?? []
  if (min === undefined || max === undefined || min <= max) return []
  return [
    finding(row, ['params'], `at least ${min} and at most ${max} cannot both hold`, `write [${max}, ${min}]`),
  ]
}

/** A rule may name networks of its own family. */
function networkCheck(written: Partly<RawConfig>): (row: Row) => Finding[] {
  if (written.networks?.networks === undefined) return () => []
  const all = new Map(Object.entries(written.networks.networks))
  const suggest = new Map<string | undefined, Suggest>()
  for (const family of familyNames()) suggest.set(family, suggester(slugsOf(written, family)))
  return row =>
    (row.rule.networks ?? []).flatMap((slug, index) => {
      if (slug === undefined) return []
      const at: Path = ['networks', index]
      if (!all.has(slug))
        return [
          {
            ...finding(
              row,
              at,
              `${show(slug)} is not a network in networks.yaml`,
              suggest.get(row.family)?.(slug),
            ),
            // One that is no longer served leaves its rows behind.
            severity: 'warning',
            kind: 'unknown-network',
          },
        ]
      const family = all.get(slug)?.family
      if (family === undefined || row.family === undefined || family === row.family) return []
      return [finding(row, at, `${slug} is of family ${family}, not ${row.family}`)]
    })
}

function slugsOf(written: Partly<RawConfig>, family: string): string[] {
  return named(written.networks?.networks).flatMap(([slug, network]) =>
    network.family === family ? [slug] : [],
  )
}

function finding(row: Row, path: Path, message: string, hint?: string): Finding {
  return { file: row.file, path: [...row.path, ...path], at: 'value', message, hint }
}
