/** Answers a query: a page of rows in order, or the largest groups. */
import { rawOf } from '../../../../jsonrpc/raw.ts'
import { addTo, compareSize, compareValues, Groups, MAX_GROUPS, newGroup, TooManyGroups } from './groups.ts'
import type { Compare, Group, Place } from './groups.ts'
import type { Scan } from './scan.ts'
import { shownLatency } from '../../../../ports/latency.ts'
import { MAX_ROWS, STEP } from '../../../../ports/ledger.ts'
import type { Column, GroupValues, SumsPage, SumsQuery } from '../../../../ports/ledger.ts'

/** Groups in a stretch of time below which the next one is longer, and above which it is read again in shorter ones. */
const FEW = 1_000
const MANY = 10_000
/** Steps of time in the first stretch. */
const FIRST = 24

/** The page that a query asks for. */
export function answer(query: SumsQuery, scan: Scan): SumsPage {
  return query.top === null ? inOrder(query, scan) : largest(query, query.top, scan)
}

function inOrder(query: SumsQuery, scan: Scan): SumsPage {
  const { groupBy, after } = query
  const rows: string[] = []
  let last: Group | null = null
  for (const group of groupsOf(query, { columns: groupBy }, scan)) {
    if (after !== null && compareValues(group.values, after) <= 0) continue
    if (rows.length === MAX_ROWS) return { rows: jsonOf(rows), last: last?.values ?? null }
    rows.push(rowOf(group, query))
    last = group
  }
  return { rows: jsonOf(rows), last: null }
}

/** The largest groups over the whole time; with `time` each step has a row for each of them that was in use. */
function largest(query: SumsQuery, top: number, scan: Scan): SumsPage {
  const { groupBy } = query
  const columns = groupBy.filter(column => column !== 'time')
  const ranked = [...groupsOf(query, { columns }, scan)].sort(compareSize)
  const others = Math.max(0, ranked.length - top)
  if (columns.length === groupBy.length) {
    const rows = ranked.slice(0, top).map(group => rowOf(group, query))
    if (others > 0) rows.push(rowOf(sumOf(ranked.slice(top)), query, others))
    return { rows: jsonOf(rows), last: null }
  }
  // Ranked before they are read over time: of each step the others are one group from the start.
  const ranks = new Map(ranked.slice(0, top).map(({ values }, i) => [values.join('\0'), i]))
  const rankOf = ([, ...named]: GroupValues): number =>
    named.length < columns.length ? top : (ranks.get(named.join('\0')) ?? top)
  const place = (values: GroupValues): GroupValues => (rankOf(values) < top ? values : values.slice(0, 1))
  const compare = ({ values: a }: Group, { values: b }: Group): number =>
    Number(a[0]) - Number(b[0]) || rankOf(a) - rankOf(b)
  const rest = restOf(groupBy, ranked.slice(0, top))
  const rows = Array.from(groupsOf(query, { columns: groupBy, rest, place, compare }, scan), group =>
    rowOf(group, query, rankOf(group.values) < top ? undefined : others),
  )
  return { rows: jsonOf(rows), last: null }
}

/** Endpoints that are read together, by fewer columns. */
interface Rest {
  readonly columns: readonly Column[]
  readonly has: (endpoint: string) => boolean
}

/** Those that none of the largest groups is of: all of them are in the groups of others. */
function restOf(groupBy: readonly Column[], largest: readonly Group[]): Rest | null {
  const at = groupBy.filter(column => column !== 'time').indexOf('endpoint')
  if (at === -1) return null
  const named = new Set(largest.map(({ values }) => values[at]))
  const columns = groupBy.filter(column => column === 'time' || column === 'reason')
  return { columns, has: endpoint => !named.has(endpoint) }
}

/** What groups are read by, where they are counted, and their order. */
interface Asked {
  readonly columns: readonly Column[]
  readonly rest?: Rest | null
  readonly place?: Place
  readonly compare?: Compare
}

/** Groups in order, read stretch by stretch where they begin with their time. */
function* groupsOf(query: SumsQuery, asked: Asked, scan: Scan): Generator<Group> {
  const { columns, rest = null, place, compare } = asked
  const read = (from: number, to: number, most: number): Groups => {
    const groups = new Groups(most, place)
    if (rest === null) return scan.read(from, to, columns, groups)
    scan.read(from, to, columns, groups, endpoint => !rest.has(endpoint))
    return scan.read(from, to, rest.columns, groups, rest.has)
  }
  const step = STEP[query.by]
  const from = Math.floor(query.from / 3600) * 3600
  if (columns[0] !== 'time') {
    yield* read(from, query.to, MAX_GROUPS).sorted(compare)
    return
  }
  const after = query.after?.[0]
  let at = typeof after === 'number' ? Math.max(from, after) : from
  let steps = FIRST
  while (at < query.to) {
    const end = at - (at % step) + steps * step
    let groups: Groups
    try {
      groups = read(at, Math.min(end, query.to), steps === 1 ? MAX_GROUPS : MANY)
    } catch (error) {
      if (!(error instanceof TooManyGroups) || steps === 1) throw error
      steps = Math.max(1, Math.floor(steps / 8))
      continue
    }
    yield* groups.sorted(compare)
    if (groups.size < FEW) steps *= 2
    at = end
  }
}

function sumOf(groups: readonly Group[]): Group {
  const sum = newGroup([])
  for (const group of groups) addTo(sum, group)
  return sum
}

const NAMES: Readonly<Record<Column, string>> = {
  time: 'time',
  account: 'accountId',
  endpoint: 'endpointId',
  network: 'network',
  method: 'method',
  reason: 'reason',
}

/** One row; `other` is how many groups it stands for, which are not named then. As text: a reply has up to 10 000. */
function rowOf(group: Group, { groupBy, detail }: SumsQuery, other?: number): string {
  const { values, calls, requests, errors, refusals, bytesOut, upstreamMs, latency, reasons } = group
  const members = values.map((value, i) => `"${NAMES[groupBy[i]!]}":${JSON.stringify(value)}`)
  if (other !== undefined) members.push(`"other":${other}`)
  if (!groupBy.includes('reason')) members.push(`"calls":${calls},"requests":${requests},"errors":${errors}`)
  members.push(`"refusals":${refusals}`)
  if (detail) {
    // In the order of their names, however they were read.
    const inOrder = [...(reasons ?? [])].sort(([a], [b]) => (a < b ? -1 : 1))
    const byReason = JSON.stringify(Object.fromEntries(inOrder))
    const shown = JSON.stringify(shownLatency(latency ?? []))
    members.push(
      `"bytesOut":${bytesOut},"upstreamMs":${upstreamMs},"refusalsByReason":${byReason},"latency":${shown}`,
    )
  }
  return `{${members.join(',')}}`
}

function jsonOf(rows: readonly string[]): string {
  return rawOf(`[${rows.join(',')}]`)
}
