/** JSON of a program that changes accounts: what two readers would read in two ways is not taken. */
import { membersOf } from '../../jsonrpc/elements.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { skipValue } from '../../jsonrpc/skip.ts'

/** Levels of objects in what is sent here: a body, and the labels in it. */
const LEVELS = 2

/** Levels of nesting at most, as of `limits.depth`: JSON.parse reads any number, and JSON.stringify recurs with each. */
const DEEPEST = 1_000

/** Null for an empty body; undefined for one that is not JSON, not UTF-8, has a member twice, or nests more deeply than is read. */
export function parseStrictly(body: Buffer): unknown {
  if (body.length === 0) return null
  try {
    const value = JSON.parse(
      new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body),
    ) as unknown
    const raw = body.toString('latin1').trim()
    return skipValue(raw, 0, DEEPEST) < 0 || hasDuplicate(raw, LEVELS) ? undefined : value
  } catch {
    return undefined
  }
}

function hasDuplicate(raw: Raw, levels: number): boolean {
  if (levels === 0 || !raw.startsWith('{')) return false
  const members = membersOf(raw)
  const names = new Set(members.map(([name]) => name))
  return names.size < members.length || members.some(([, value]) => hasDuplicate(value, levels - 1))
}
