import { readFileSync } from 'node:fs'
import { files, type File } from './config-dir.ts'
import { pathText, WrittenYaml, type Path, type Place } from './written-yaml.ts'

/** One wrong file, and the problem that must be told of it. */
export interface Finding {
  readonly file: File
  /** What is wrong: the keyword of the schema, or a name of its own. */
  readonly kind: string
  readonly text: string
  readonly path: string
  readonly place: Place
  readonly message: RegExp
}

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: false | Schema
  readonly propertyNames?: Schema
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly [keyword: string]: unknown
}

const schemas = Object.fromEntries(
  files.map(file => {
    const name = file.replace('.yaml', '.schema.json')
    return [
      name,
      JSON.parse(readFileSync(new URL(`../../schema/${name}`, import.meta.url), 'utf8')) as Schema,
    ]
  }),
)

/** What one change to a value says, and where. */
interface Change {
  readonly kind: string
  readonly message: RegExp
  /** The document with the change. */
  readonly document: unknown
  readonly path: Path
  readonly at: 'key' | 'value'
}

/** Every finding that the schema of a file knows how to make in a valid document, and the keys that it reached. */
export function schemaMistakes(
  file: File,
  document: unknown,
): { readonly findings: readonly Finding[]; readonly keys: ReadonlySet<string> } {
  const keys = new Set<string>()
  const changes = walk(schemas[file.replace('.yaml', '.schema.json')]!, file, [], document, keys, document)
  const findings = [...changes].map(({ kind, message, document: wrong, path, at }): Finding => {
    const yaml = new WrittenYaml(wrong)
    return { file, kind, text: yaml.text, path: pathText(path), place: yaml[at](path), message }
  })
  return { findings, keys }
}

/** The names of all keys that a file's schema has. */
export function schemaKeys(file: File): ReadonlySet<string> {
  const own = JSON.stringify(schemas[file.replace('.yaml', '.schema.json')])
  const names = new Set<string>()
  JSON.parse(own, (name, value: unknown) => {
    if (name === 'properties') for (const key of Object.keys(value as object)) names.add(key)
    return value
  })
  return names
}

function* walk(
  written: Schema,
  file: string,
  path: Path,
  value: unknown,
  keys: Set<string>,
  root: unknown,
): Generator<Change> {
  const { schema, home } = resolve(written, file)
  const put = (wrong: unknown, kind: string, message: RegExp, at = path): Change => ({
    kind,
    message,
    document: replace(root, path, wrong),
    path: at,
    at: 'value',
  })
  yield* wrongTypes(schema, path, put)
  yield* wrongScalars(schema, value, put)
  if (Array.isArray(value)) {
    yield* wrongLists(schema, value, path, put)
    for (const [i, item] of value.entries())
      if (schema.items !== undefined) yield* walk(schema.items, home, [...path, i], item, keys, root)
  } else if (typeof value === 'object' && value !== null) {
    yield* wrongMaps(schema, value as Record<string, unknown>, path, root)
    for (const [name, inner] of Object.entries(value)) {
      const known = schema.properties?.[name]
      if (known !== undefined) keys.add(name)
      const next = known ?? (schema.additionalProperties === false ? undefined : schema.additionalProperties)
      if (next !== undefined) yield* walk(next, home, [...path, name], inner, keys, root)
    }
  }
}

type Put = (wrong: unknown, kind: string, message: RegExp, at?: Path) => Change

const samples: Readonly<Record<string, unknown>> = {
  string: 'some text',
  integer: 7,
  number: 7.5,
  boolean: true,
  array: [],
  object: {},
}

function* wrongTypes({ type }: Schema, path: Path, put: Put): Generator<Change> {
  if (type === undefined) return
  const types = [type].flat()
  for (const [name, sample] of Object.entries(samples)) {
    const isFine = types.includes(name) || (name === 'integer' && types.includes('number'))
    // A text where a number may also be written is judged by its pattern.
    if (!isFine) yield put(sample, 'type', / is not |, not text$/)
  }
  // An empty file says nothing, which may be right.
  if (path.length > 0) yield put(null, 'null', /value is missing/)
}

function* wrongScalars(schema: Schema, value: unknown, put: Put): Generator<Change> {
  const limit = (name: string) => Number(schema[name])
  if (schema.enum !== undefined) yield put('no-such-word', 'enum', /^unknown /)
  if (typeof schema['pattern'] === 'string' && typeof value === 'string')
    for (const wrong of ['', '!! no !!', 'two\nlines'])
      if (!new RegExp(schema['pattern'], 'u').test(wrong))
        yield put(wrong, 'pattern', / is not |the value is/)
  if (schema['minLength'] !== undefined) yield put('', 'minLength', /the text is empty/)
  if (schema['maxLength'] !== undefined)
    yield put('x'.repeat(limit('maxLength') + 1), 'maxLength', /the text is too long/)
  if (schema['minimum'] !== undefined) yield put(limit('minimum') - 1, 'minimum', /^must be at least/)
  if (schema['maximum'] !== undefined) yield put(limit('maximum') + 1, 'maximum', /^must be at most/)
  if (schema['exclusiveMinimum'] !== undefined)
    yield put(limit('exclusiveMinimum'), 'exclusiveMinimum', /^must be above/)
}

function* wrongLists(schema: Schema, list: readonly unknown[], path: Path, put: Put): Generator<Change> {
  if (schema['minItems'] !== undefined)
    yield put(list.slice(0, Number(schema['minItems']) - 1), 'minItems', /the list is empty|at least/)
  if (schema['maxItems'] !== undefined) yield put([...list, list[0]], 'maxItems', /at most/)
  if (schema['uniqueItems'] === true && list.length > 0)
    yield put([...list, list[0]], 'uniqueItems', /is a duplicate/, [...path, list.length])
}

function* wrongMaps(
  schema: Schema,
  map: Readonly<Record<string, unknown>>,
  path: Path,
  root: unknown,
): Generator<Change> {
  const put = (wrong: unknown, kind: string, message: RegExp, at: Path): Change => ({
    kind,
    message,
    document: replace(root, path, wrong),
    path: at,
    at: 'key',
  })
  if (schema.additionalProperties === false)
    yield put({ ...map, unheardOf: 1 }, 'unknown key', /^unknown key$/, [...path, 'unheardOf'])
  for (const name of schema.required ?? []) {
    yield put(without(map, name), 'required', new RegExp(`"${name}" is missing`), path)
  }
  if (schema.propertyNames !== undefined) {
    const sample = Object.values(map).at(-1)
    const wrong = { ...map, 'No such name': sample }
    yield put(wrong, 'propertyNames', / is not a /, [...path, 'No such name'])
  }
}

/** A schema without its `$ref`, and the file in which its own references are meant. */
function resolve(schema: Schema, file: string): { schema: Schema; home: string } {
  if (schema.$ref === undefined) return { schema, home: file }
  const [name = '', pointer = ''] = schema.$ref.split('#')
  const home = name === '' ? file : name.replace('.schema.json', '.yaml')
  const target = pointer
    .split('/')
    .slice(1)
    .reduce<unknown>(
      (at, step) => (at as Record<string, unknown>)[step],
      schemas[home.replace('.yaml', '.schema.json')],
    )
  return { schema: { ...(target as Schema), ...without(schema, '$ref') }, home }
}

function without(map: Readonly<Record<string, unknown>>, name: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(map).filter(([other]) => other !== name))
}

function replace(root: unknown, path: Path, value: unknown): unknown {
  const [step, ...others] = path
  if (step === undefined) return value
  const copy = structuredClone(root) as Record<string | number, unknown>
  copy[step] = replace(copy[step], others, value)
  return copy
}
