/** `extends` in methods.yaml: the rows of another file, with this one's laid over them key by key. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from './package-file.ts'
import type { Evaluated } from './yaml/evaluate.ts'
import type { Finding } from './finding.ts'
import type { Path } from './yaml/path.ts'
import { valuesOf } from './yaml/values.ts'
import type { Problem } from './problem.ts'
import { rowsAlike } from './link/alike.ts'
import { dropInvalid } from './schema/drop-invalid.ts'
import { decode, lookupIn, reason } from './read.ts'
import { emptyRecord } from './record.ts'
import { inOrder, problemOf } from './report.ts'
import { checkShape } from './schema/shape.ts'
import { show } from './words/show.ts'
import { nearest } from './words/suggest.ts'

const FILE = 'methods.yaml'
/** The word for the methods.yaml that ships with the program. */
const CATALOGUE = 'catalogue'
/** Files that extend each other at most. */
const LONGEST = 8

type Map = Record<string, unknown>

/** What a methods.yaml says together with what it extends. */
export interface Extended {
  /** All rows; what they come to where there is none is for the schema to say. */
  readonly value: unknown
  /** Of this file. */
  readonly findings: readonly Finding[]
  /** Of the files that it extends. */
  readonly problems: readonly Problem[]
  /** Where these are. */
  readonly paths: readonly string[]
}

/** Lays an evaluated methods.yaml of `dir` over what it extends, if anything. `from` are the files that led here, itself the last. */
export function extend(
  evaluated: Evaluated,
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
  from: readonly string[],
): Extended {
  const { value } = evaluated
  const wanted = isMap(value) ? value['extends'] : undefined
  const removed = wanted === undefined ? [] : takeNulls(value as Map)
  // Who extends another file may have no rows of its own.
  if (wanted !== undefined) (value as Map)['families'] ??= emptyRecord()
  const own = [...evaluated.findings, ...checkShape(FILE, value, evaluated.emptied)]
  dropInvalid(value, own)
  if (typeof wanted !== 'string') return { value, findings: own, problems: [], paths: [] }
  const path = wanted === CATALOGUE ? fileURLToPath(packageFile(FILE)) : resolve(dir, wanted)
  const told = (message: string, hint?: string): Extended => ({
    value: undefined,
    problems: [],
    paths: [path],
    findings: [...own, { file: FILE, path: ['extends'], at: 'value', message, hint }],
  })
  if (from.includes(path) || from.length >= LONGEST)
    return told(`${show(wanted)} extends this file in turn, or is one of too many`)
  const base = readBase(path, wanted, env, [...from, path])
  if ('failure' in base)
    return told(
      `cannot read ${show(wanted)}: ${base.failure}`,
      wanted.includes('/') || wanted.endsWith('.yaml')
        ? undefined
        : `write ${CATALOGUE}, or the path of a file`,
    )
  return {
    value: merge(base.value, value as Map, removed),
    findings: [...own, ...unknownRemovals(base.value, removed), ...addedRows(base.value, value as Map)],
    problems: base.problems,
    paths: [path, ...base.paths],
  }
}

interface Base {
  readonly value: Map
  readonly problems: readonly Problem[]
  readonly paths: readonly string[]
}

function readBase(
  path: string,
  name: string,
  env: Readonly<Record<string, string | undefined>>,
  from: readonly string[],
): Base | { readonly failure: string } {
  let text
  try {
    text = decode(readFileSync(path))
  } catch (error) {
    return { failure: reason(error) }
  }
  const nothing = { value: emptyRecord<unknown>(), paths: [] }
  const dir = dirname(path)
  const evaluated = valuesOf(FILE, text, lookupIn(dir, env))
  if (!('nodes' in evaluated)) return { ...nothing, problems: [{ ...evaluated, file: name }] }
  const { value, findings, problems, paths } = extend(evaluated, dir, env, from)
  const own = inOrder(findings.map(finding => problemOf(finding, evaluated)))
  return {
    value: isMap(value) ? value : nothing.value,
    problems: [...problems, ...own.map(problem => ({ ...problem, file: name }))],
    paths,
  }
}

/** Rows, and keys of rows, that are written as null: they are taken out, and returned. */
function takeNulls(value: Map): Path[] {
  const removed: Path[] = []
  for (const [family, rows] of entries(value['families']))
    for (const [name, row] of entries(rows)) {
      if (row === null) removed.push(['families', family, name])
      for (const [key, one] of entries(row)) if (one === null) removed.push(['families', family, name, key])
    }
  for (const path of removed) delete at(value, path.slice(0, -1))?.[String(path.at(-1))]
  return removed
}

/** What is to be removed must be there: a name that is misspelt would be served on. */
function unknownRemovals(base: Map, removed: readonly Path[]): Finding[] {
  return removed.flatMap(path => {
    const name = String(path.at(-1))
    const there = at(base, path.slice(0, -1)) ?? {}
    if (name in there) return []
    const match = nearest(name, Object.keys(there))
    const hint = match === undefined ? undefined : `did you mean "${match}"?`
    return [
      {
        file: FILE,
        path,
        at: 'key',
        hint,
        message: `${name} is not in what this file extends`,
      } as const,
    ]
  })
}

/** A row with a misspelled name would be a method of its own. */
function addedRows(base: Map, own: Map): Finding[] {
  return entries(own['families']).flatMap(([family, rows]) =>
    rowsAlike(
      entries(rows).map(([name]) => ({ file: FILE, path: ['families', family, name], name })),
      Object.keys(at(base, ['families', family]) ?? {}),
    ),
  )
}

function merge(base: Map, own: Map, removed: readonly Path[]): Map {
  const value = emptyRecord<unknown>()
  Object.assign(value, base, own)
  delete value['extends']
  const families = emptyRecord<unknown>()
  for (const [family, rows] of entries(base['families'])) families[family] = copyOf(rows)
  for (const [family, rows] of entries(own['families'])) {
    const all = (families[family] ??= emptyRecord()) as Map
    for (const [name, row] of entries(rows))
      all[name] = isMap(row) && isMap(all[name]) ? Object.assign(copyOf(all[name]), row) : row
  }
  value['families'] = families
  for (const path of removed) {
    const parent = path.slice(0, -1)
    // A row that came with the base is the base's own object.
    if (path.length === 4) {
      const rows = at(value, parent.slice(0, -1))
      const row = rows?.[String(parent.at(-1))]
      if (rows !== undefined && isMap(row)) rows[String(parent.at(-1))] = copyOf(row)
    }
    delete at(value, parent)?.[String(path.at(-1))]
  }
  return value
}

function copyOf(value: unknown): Map {
  return Object.assign(emptyRecord<unknown>(), value)
}

function at(value: Map, path: Path): Map | undefined {
  let found: unknown = value
  for (const step of path) found = isMap(found) ? found[step] : undefined
  return isMap(found) ? found : undefined
}

function entries(value: unknown): [string, unknown][] {
  return isMap(value) ? Object.entries(value) : []
}

function isMap(value: unknown): value is Map {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
