/** Sums by group, while a query collects them. */
import { noLatency } from '../../../../ports/latency.ts'
import type { Latency } from '../../../../ports/latency.ts'
import type { GroupValues } from '../../../../ports/ledger.ts'

/** What some rows of the ledger come to. */
export interface Amounts {
  readonly calls: number
  readonly requests: number
  readonly errors: number
  readonly refusals: number
  readonly bytesOut: number
  readonly upstreamMs: number
  /** Null where it was not asked for. */
  readonly latency: Latency | null
}

/** The sums of one group. */
export interface Group {
  readonly values: GroupValues
  calls: number
  requests: number
  errors: number
  refusals: number
  bytesOut: number
  upstreamMs: number
  /** Calls by how long upstreams took; null where they were not asked for. */
  latency: number[] | null
  /** Refusals by reason; null where they were not asked for. */
  reasons: Map<string, number> | null
}

/** Groups held at a time at most: about 50 MiB, and 15 more where latency is asked for. */
export const MAX_GROUPS = 100_000

/** Thrown when there are more groups than may be held. */
export class TooManyGroups extends Error {}

/** The values of the group in which those of a row are counted. */
export type Place = (values: GroupValues) => GroupValues

/** An order of groups. */
export type Compare = (a: Group, b: Group) => number

/** Groups by their values. */
export class Groups {
  readonly #byKey = new Map<string, Group>()
  readonly #most: number
  readonly #place: Place

  /** Throws TooManyGroups past `most`. */
  constructor(most = MAX_GROUPS, place: Place = values => values) {
    this.#most = most
    this.#place = place
  }

  get size(): number {
    return this.#byKey.size
  }

  /** The group of a row's values; null when nothing was added to it yet. */
  find(values: GroupValues): Group | null {
    return this.#byKey.get(this.#place(values).join('\0')) ?? null
  }

  /** Adds to the group of a row's values. */
  add(row: GroupValues, amounts: Partial<Amounts>): Group {
    const values = this.#place(row)
    const key = values.join('\0')
    let group = this.#byKey.get(key)
    if (group === undefined) {
      if (this.#byKey.size >= this.#most) throw new TooManyGroups()
      this.#byKey.set(key, (group = newGroup(values)))
    }
    addTo(group, amounts)
    return group
  }

  /** All groups in an order: that of their values when nothing else is said. */
  sorted(compare: Compare = (a, b) => compareValues(a.values, b.values)): Group[] {
    return [...this.#byKey.values()].sort(compare)
  }
}

/** An empty group. */
export function newGroup(values: GroupValues): Group {
  // One literal: there is one for every row of a reply.
  // prettier-ignore
  return {
    values, calls: 0, requests: 0, errors: 0, refusals: 0, bytesOut: 0, upstreamMs: 0, latency: null, reasons: null,
  }
}

/** Adds one sum to another. */
export function addTo(
  group: Group,
  amounts: Partial<Amounts> & { readonly reasons?: Group['reasons'] },
): void {
  group.calls += amounts.calls ?? 0
  group.requests += amounts.requests ?? 0
  group.errors += amounts.errors ?? 0
  group.refusals += amounts.refusals ?? 0
  group.bytesOut += amounts.bytesOut ?? 0
  group.upstreamMs += amounts.upstreamMs ?? 0
  if (amounts.latency != null) {
    group.latency ??= noLatency()
    for (let i = 0; i < amounts.latency.length; i += 1) group.latency[i]! += amounts.latency[i]!
  }
  for (const [reason, count] of amounts.reasons ?? []) addReason(group, reason, count)
}

/** Adds refusals for one reason. */
export function addReason(group: Group, reason: string, count: number): void {
  group.reasons ??= new Map()
  group.reasons.set(reason, (group.reasons.get(reason) ?? 0) + count)
}

/** The order of rows: value by value, strings by their characters. */
export function compareValues(a: GroupValues, b: GroupValues): number {
  for (let i = 0; i < a.length; i += 1) {
    const [left, right] = [a[i]!, b[i]!]
    if (left !== right) return left < right ? -1 : 1
  }
  return 0
}

/** The largest first: by requests, then calls, then refusals; equal ones in the order of rows. */
export function compareSize(a: Group, b: Group): number {
  return (
    b.requests - a.requests ||
    b.calls - a.calls ||
    b.refusals - a.refusals ||
    compareValues(a.values, b.values)
  )
}
