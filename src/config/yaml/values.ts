/** What the text of a file says: it is parsed, unless it is known already. */
import { createHash } from 'node:crypto'
import type { FileName } from '../files.ts'
import type { Problem } from '../problem.ts'
import { record } from '../record.ts'
import { CATALOGUE } from './catalogue.ts'
import type { KnownText } from './catalogue.ts'
import { evaluate } from './evaluate.ts'
import type { Evaluated, Nodes } from './evaluate.ts'
import { parseText } from './parse.ts'
import type { Lookup } from './substitute.ts'

/** The values of a file, or where its syntax breaks. Each caller gets values of its own. */
export function valuesOf(
  file: FileName,
  text: string,
  lookup: Lookup,
  known: KnownText | null = CATALOGUE,
): Evaluated | Problem {
  if (known !== null && sha256(text) === known.sha256) return ofKnown(file, text, lookup, known)
  const source = parseText(file, text)
  return 'root' in source ? evaluate(source, lookup) : source
}

/** The text is parsed only for who wants to know where something stands. */
function ofKnown(file: FileName, text: string, lookup: Lookup, { json }: KnownText): Evaluated {
  let parsed: Nodes | undefined
  const parse = (): Nodes => {
    const source = parseText(file, text)
    if (!('root' in source)) throw new Error(`${file} was known, and cannot be parsed: ${source.message}`)
    return evaluate(source, lookup).nodes()
  }
  const value = withoutPrototypes(JSON.parse(json))
  return { file, value, findings: [], emptied: new Set(), nodes: () => (parsed ??= parse()) }
}

export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** Plain data with maps as `evaluate` makes them. */
function withoutPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutPrototypes)
  if (typeof value !== 'object' || value === null) return value
  return record(Object.entries(value).map(([name, inner]) => [name, withoutPrototypes(inner)]))
}
