/**
 * Methods that read what another one reads. What a row says of a read holds for its other names, or callers would
 * choose the cheaper one.
 */
import type { RuleConfig } from '../config/types.ts'
import { byPrecedence, covers, isPattern } from '../net/patterns.ts'

type Bound = 'cost' | 'tier' | 'maxRange' | 'enabled'

interface SameRead {
  readonly of: string
  /** Keys that the row takes from that of `of`, where it does not state them. */
  readonly takes: readonly Bound[]
  /** Where its params hold the range, for a row that says nothing of that. */
  readonly block?: RuleConfig['block']
}

const FIRST = { at: 0, kind: 'range' } as const

const SAME_READS: Readonly<Record<string, SameRead>> = {
  // It reads nothing yet, so it is free of the cost. geth and others answer eth_getFilterChanges with new logs only.
  eth_newFilter: { of: 'eth_getLogs', takes: ['tier', 'maxRange'], block: FIRST },
  eth_getFilterLogs: { of: 'eth_getLogs', takes: ['cost', 'tier', 'maxRange', 'enabled'] },
  erigon_getLogs: { of: 'eth_getLogs', takes: ['cost', 'tier', 'maxRange', 'enabled'], block: FIRST },
  erigon_getLatestLogs: { of: 'eth_getLogs', takes: ['cost', 'tier', 'maxRange', 'enabled'], block: FIRST },
  arbtrace_filter: { of: 'trace_filter', takes: ['cost', 'tier', 'maxRange', 'enabled'], block: FIRST },
}

/** Gives rows what those of the same read say. A name that only a pattern covers gets a row of its own. */
export function withSameReads(rows: Map<string, RuleConfig>): Map<string, RuleConfig> {
  for (const [name, { of, takes, block }] of Object.entries(SAME_READS)) {
    const source = rows.get(of)
    const own = rows.get(name) ?? coveringRow(rows, name)
    if (source === undefined || own === undefined) continue
    const stated = rows.has(name) ? own : {}
    const taken = takes.filter(key => stated[key] === undefined && source[key] !== undefined)
    if (taken.length === 0) continue
    const bounds = Object.fromEntries(taken.map(key => [key, source[key]]))
    const place = block === undefined || own.block !== undefined ? {} : { block }
    rows.set(name, { ...own, ...place, ...bounds })
  }
  return rows
}

/** The method whose row switches this one off, which says nothing of that itself; null where there is none. */
export function switchedOffWith(match: string, rows: Readonly<Record<string, RuleConfig>>): string | null {
  const same = Object.hasOwn(SAME_READS, match) ? SAME_READS[match]! : null
  return same !== null && rows[match]?.enabled === undefined && same.takes.includes('enabled')
    ? same.of
    : null
}

/** The row of the pattern that governs a name. */
function coveringRow(rows: ReadonlyMap<string, RuleConfig>, name: string): RuleConfig | undefined {
  const [first] = [...rows.keys()].filter(match => isPattern(match) && covers(match, name)).sort(byPrecedence)
  return first === undefined || rows.get(first)?.enabled === false ? undefined : rows.get(first)
}
