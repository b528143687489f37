/** Answers a query: a page of rows in order, or the largest groups. */
import { rawOf } from '../../../../jsonrpc/raw.ts'
import { addTo, compareSize, compareValues, newGroup, TooManyGroups } from './groups.ts'
import type { Group, Groups } from './groups.ts'
import type { Scan } from './scan.ts'
import { shownLatency } from '../../../../ports/latency.ts'
import { MAX_ROWS, STEP } from '../../../../ports/ledger.ts'
import type { Column, SumsPage, SumsQuery } from '../../../../ports/ledger.ts'

/** Groups in a stretch of time below which the next one is longer, and above which it is read again in shorter ones. */
const FEW = 1_000
const MANY = 10_000

/** The page that a query asks for. */
export function answer(query: SumsQuery, scan: Scan): SumsPage {
  return query.top === null ? inOrder(query, scan) : largest(query, query.top, scan)
}

function inOrder(query: SumsQuery, scan: Scan): SumsPage {
  const { groupBy, after } = query
  const rows: string[] = []
  let last: Group | null = null
  for (const group of groupsOf(query, groupBy, scan)) {
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
  const ranked = [...groupsOf(query, columns, scan)].sort(compareSize)
  const others = Math.max(0, ranked.length - top)
  if (columns.length === groupBy.length) {
    const rows = ranked.slice(0, top).map(group => rowOf(group, query))
    if (others > 0) rows.push(rowOf(sumOf(ranked.slice(top)), query, others))
    return { rows: jsonOf(rows), last: null }
  }
  const rank = new Map(ranked.slice(0, top).map(({ values }, i) => [values.join('\0'), i]))
  const rows: string[] = []
  for (const [time, groups] of byTime(groupsOf(query, groupBy, scan))) {
    const rankOf = ({ values }: Group): number => rank.get(values.slice(1).join('\0')) ?? top
    const sorted = groups.map(group => ({ group, rank: rankOf(group) })).sort((a, b) => a.rank - b.rank)
    for (const { group, rank } of sorted) if (rank < top) rows.push(rowOf(group, query))
    const rest = sorted.flatMap(({ group, rank }) => (rank < top ? [] : [group]))
    if (rest.length > 0) rows.push(rowOf({ ...sumOf(rest), values: [time] }, query, others))
  }
  return { rows: jsonOf(rows), last: null }
}

/** Groups in order, read stretch by stretch where they begin with their time. */
function* groupsOf(query: SumsQuery, columns: readonly Column[], scan: Scan): Generator<Group> {
  const step = STEP[query.by]
  const from = Math.floor(query.from / 3600) * 3600
  if (columns[0] !== 'time') {
    yield* scan.read(from, query.to, columns).sorted()
    return
  }
  const after = query.after?.[0]
  let at = typeof after === 'number' ? Math.max(from, after) : from
  let steps = 1
  while (at < query.to) {
    const end = at - (at % step) + steps * step
    const groups = readStretch(at, Math.min(end, query.to), columns, scan, steps)
    if (groups === null) {
      steps = Math.max(1, Math.floor(steps / 8))
      continue
    }
    yield* groups.sorted()
    if (groups.size < FEW) steps *= 2
    at = end
  }
}

/** Null when a stretch of several steps has so many groups that it is to be read in shorter ones. */
function readStretch(
  from: number,
  to: number,
  columns: readonly Column[],
  scan: Scan,
  steps: number,
): Groups | null {
  if (steps === 1) return scan.read(from, to, columns)
  try {
    return scan.read(from, to, columns, MANY)
  } catch (error) {
    if (error instanceof TooManyGroups) return null
    throw error
  }
}

function* byTime(groups: Iterable<Group>): Generator<readonly [number, readonly Group[]]> {
  let time: number | null = null
  let same: Group[] = []
  for (const group of groups) {
    const [at] = group.values as readonly [number]
    if (time !== null && at !== time) {
      yield [time, same]
      same = []
    }
    time = at
    same.push(group)
  }
  if (time !== null) yield [time, same]
}

function sumOf(groups: readonly Group[]): Group {
  const sum = newGroup([])
  for (const group of groups) addTo(sum, group)
  return sum
}

const NAMES: Readonly<Record<Column, string>> = {
  ...{
    time: 'time',
    account: 'accountId',
    endpoint: 'endpointId',
    network: 'network',
    method: 'method',
    reason: 'reason',
  },
}

/** One row; `other` is how many groups it stands for, which are not named then. */
function rowOf(group: Group, { groupBy, detail }: SumsQuery, other?: number): string {
  const { values, calls, requests, errors, refusals, bytesOut, upstreamMs, latency, reasons } = group
  const named = values.map((value, i) => [NAMES[groupBy[i]!], value])
  return JSON.stringify({
    ...(Object.fromEntries(named) as object),
    ...(other === undefined ? {} : { other }),
    ...(groupBy.includes('reason') ? { refusals } : { calls, requests, errors, refusals }),
    ...(detail ? { bytesOut, upstreamMs, refusalsByReason: Object.fromEntries(reasons ?? []) } : {}),
    ...(detail ? { latency: shownLatency(latency ?? []) } : {}),
  })
}

function jsonOf(rows: readonly string[]): string {
  return rawOf(`[${rows.join(',')}]`)
}
