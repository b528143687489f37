/** What the audit trail keeps of long values: an owner decides how long they are, and may change them ten times a second. */
import type { Members } from '../../../ports/audit.ts'

/** Bytes of JSON that one member takes at most, about. */
const MOST = 512
/** Characters of a text that is cut. */
const CUT = 100

/** The members before and after a change; of a long list or map what differs, as far as there is room, and how many there are. */
export function brief(before: Members | null, after: Members | null): [Members | null, Members | null] {
  return [briefSide(before, after, 'removed'), briefSide(after, before, 'added')]
}

function briefSide(side: Members | null, other: Members | null, what: string): Members | null {
  if (side === null) return null
  const members = Object.entries(side).map(([name, value]) => [
    name,
    sizeOf(value) <= MOST ? value : shortened(value, other?.[name], what),
  ])
  return Object.fromEntries(members) as Members
}

function shortened(value: unknown, other: unknown, what: string): unknown {
  if (typeof value !== 'object' || value === null) return cut(value)
  const [items, others] = [itemsOf(value), new Set(itemsOf(other))]
  const own = items.filter(item => !others.has(item))
  const shown: string[] = []
  for (const item of own) {
    if (sizeOf([...shown, item]) > MOST) break
    shown.push(item)
  }
  const more = own.length - shown.length
  return { count: items.length, [what]: shown, ...(more === 0 ? {} : { more }) }
}

/** A map as its lines. */
function itemsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.map(cut)
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).map(([name, each]) => `${name}: ${cut(each)}`)
}

function cut(value: unknown): string {
  const text = typeof value === 'string' ? value : ((JSON.stringify(value) as string | undefined) ?? 'null')
  return text.length <= CUT * 3 ? text : `${text.slice(0, CUT)}…`
}

function sizeOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value ?? null))
}
