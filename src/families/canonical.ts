/** One spelling for JSON values that mean the same. */
import { elementsOf, membersOf, nameOf } from '../jsonrpc/elements.ts'
import { rawJson } from '../jsonrpc/raw.ts'
import type { Raw } from '../jsonrpc/raw.ts'

/** Levels of nesting that are looked into. */
const MAX_DEPTH = 64

/** The members of an object by name; null when two could be one to some parser: by case, or by folding. */
export function soleMembers(object: Raw): Map<string, Raw> | null {
  const members = membersOf(object)
  if (members.some(([name]) => /[^\x20-\x7e]/.test(name))) return null
  const names = new Set(members.map(([name]) => name.toLowerCase()))
  return names.size === members.length ? new Map(members) : null
}

/**
 * A valid JSON value without white space, its members sorted and its strings spelled in one way; null where an object says
 * a member twice. Numbers stay as they are: 1 and 1.0 are not the same to every parser.
 */
export function canonical(raw: Raw, depth = MAX_DEPTH): Raw | null {
  const first = raw.charCodeAt(0)
  if (first === 34) return rawJson(nameOf(raw))
  if (first !== 91 && first !== 123) return raw
  if (depth === 0) return null
  return first === 91 ? canonicalArray(raw, depth) : canonicalObject(raw, depth)
}

function canonicalArray(raw: Raw, depth: number): Raw | null {
  const parts: Raw[] = []
  for (const element of elementsOf(raw)) {
    const part = canonical(element, depth - 1)
    if (part === null) return null
    parts.push(part)
  }
  return `[${parts.join(',')}]`
}

function canonicalObject(raw: Raw, depth: number): Raw | null {
  const members = soleMembers(raw)
  if (members === null) return null
  const parts: Raw[] = []
  for (const [name, value] of members) {
    const part = canonical(value, depth - 1)
    if (part === null) return null
    parts.push(`${rawJson(name)}:${part}`)
  }
  return `{${parts.sort().join(',')}}`
}

/** An object of raw members, sorted. */
export function objectOf(members: ReadonlyMap<string, Raw>): Raw {
  const parts = [...members].map(([name, value]) => `${rawJson(name)}:${value}`)
  return `{${parts.sort().join(',')}}`
}
