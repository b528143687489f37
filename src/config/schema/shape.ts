import type { ErrorObject } from 'ajv'
import type { FileName } from '../files.ts'
import type { Finding } from '../finding.ts'
import { formatPath, pathOfPointer, type Path } from '../yaml/path.ts'
import { schemaErrors, type Annotations } from './schemas.ts'
import { sentenceFor } from './sentence.ts'
import { listed } from '../words/show.ts'
import { nearest } from '../words/suggest.ts'

/**
 * The findings that a file's JSON Schema finds: unknown and missing keys, values of the wrong kind. `emptied` holds the
 * paths of keys that are written, and absent because their `${…}` is empty.
 */
export function checkShape(file: FileName, value: unknown, emptied: ReadonlySet<string>): readonly Finding[] {
  const errors = schemaErrors(file, value)
  const unknown = errors
    .filter(error => error.keyword === 'additionalProperties')
    .map(error => unknownKey(file, error, value))
  return [
    ...unknown.map(({ finding }) => finding),
    ...missingKeys(errors, value, new Set(unknown.map(({ meant }) => meant))).map(missing =>
      missingMistake(file, missing, emptied),
    ),
    ...errors.filter(isAboutValue).map(error => wrongValue(file, error, value)),
  ]
}

const OF_KEYS: ReadonlySet<string> = new Set(['additionalProperties', 'required', 'propertyNames'])

function isAboutValue(error: ErrorObject): boolean {
  return !OF_KEYS.has(error.keyword)
}

/** Keys that were removed, by file and path, and what to write instead. */
const REMOVED: Readonly<Record<string, string>> = {
  'gateway.yaml limits.bodies':
    'it was replaced by limits.memory, which bounds everything held for clients (default 512MiB)',
}

/** The finding, and the place of the key that was meant, which is then not missing as well. */
function unknownKey(file: FileName, error: ErrorObject, value: unknown): { finding: Finding; meant: string } {
  const name = (error.params as { additionalProperty: string }).additionalProperty
  const known = Object.keys((error.parentSchema as Annotations).properties ?? {})
  const match = nearest(name, known)
  const path = [...pathOfPointer(error.instancePath, value), name]
  const hint =
    REMOVED[`${file} ${formatPath(path)}`] ??
    (match === undefined ? `the keys here are ${listed(known)}` : `did you mean "${match}"?`)
  return {
    finding: { file, path, at: 'key', message: 'unknown key', hint, spoils: true },
    meant: `${error.instancePath}/${match ?? ''}`,
  }
}

interface Missing {
  readonly path: Path
  readonly names: readonly string[]
}

/** One finding a map, however many of its keys are missing: they all have the same place. */
function missingKeys(errors: readonly ErrorObject[], value: unknown, meant: ReadonlySet<string>): Missing[] {
  const missing = new Map<string, string[]>()
  for (const error of errors) {
    if (error.keyword !== 'required') continue
    const name = (error.params as { missingProperty: string }).missingProperty
    if (meant.has(`${error.instancePath}/${name}`)) continue
    missing.set(error.instancePath, [...(missing.get(error.instancePath) ?? []), name])
  }
  return [...missing].map(([pointer, names]) => ({ path: pathOfPointer(pointer, value), names }))
}

function missingMistake(file: FileName, { path, names }: Missing, emptied: ReadonlySet<string>): Finding {
  const message = `${listed(names.map(name => `"${name}"`))} ${names.length === 1 ? 'is' : 'are'} missing`
  const empty = names.some(name => emptied.has(formatPath([...path, name])))
  const hint = empty ? 'it is written, but its ${…} is empty, which counts as absent' : undefined
  return { file, path, at: 'key', message, hint }
}

function wrongValue(file: FileName, error: ErrorObject, value: unknown): Finding {
  const path = pathOfPointer(error.instancePath, value)
  if (error.propertyName !== undefined)
    return {
      file,
      path: [...path, error.propertyName],
      at: 'key',
      ...sentenceFor({ ...error, data: error.propertyName }),
    }
  return { file, path: [...path, ...indexIn(error)], at: 'value', spoils: true, ...sentenceFor(error) }
}

/** The duplicate item of a list: the later one is the problem. */
function indexIn(error: ErrorObject): Path {
  if (error.keyword !== 'uniqueItems') return []
  const { i, j } = error.params as { i: number; j: number }
  return [Math.max(i, j)]
}
