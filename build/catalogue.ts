/** src/config/yaml/catalogue.ts as the built program has it: the shipped methods.yaml, parsed. */
import { readFileSync } from 'node:fs'
import type { KnownText } from '../src/config/yaml/catalogue.ts'
import { sha256, valuesOf } from '../src/config/yaml/values.ts'

/** What a text says; fails where that depends on the environment, or something is wrong with it. */
export function knownText(text: string): KnownText {
  const read = valuesOf('methods.yaml', text, { env: {}, readFile: () => ({ failure: 'no file' }) }, null)
  if (!('nodes' in read)) throw new Error(`methods.yaml:${read.line}: ${read.message}`)
  if (read.findings.length > 0 || text.includes('${')) throw new Error('methods.yaml is not plain')
  return { sha256: sha256(text), json: JSON.stringify(read.value) }
}

/** A module of JavaScript that exports `CATALOGUE`. */
export function catalogueModule(): string {
  const text = readFileSync(new URL('../methods.yaml', import.meta.url), 'utf8')
  return `export const CATALOGUE = ${JSON.stringify(knownText(text))}`
}
