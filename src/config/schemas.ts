import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { FILES, type FileName } from './files.ts'
import { readSchema } from './read.ts'

/** What we read of a schema when one of its keywords fails. */
export interface Annotations {
  readonly title?: string
  /** What is wrong with a text that does not match, and what to write; editors show it too. */
  readonly patternErrorMessage?: string
  readonly pattern?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, unknown>>
  /** A secret: its value is not shown. */
  readonly writeOnly?: boolean
}

let compiled: ReadonlyMap<FileName, ValidateFunction> | undefined

/** What a file's JSON Schema has against a value. */
export function schemaErrors(file: FileName, value: unknown): readonly ErrorObject[] {
  compiled ??= compileAll()
  const validate = compiled.get(file)
  return validate === undefined || validate(value) ? [] : (validate.errors ?? [])
}

function compileAll(): ReadonlyMap<FileName, ValidateFunction> {
  const ajv = new Ajv({ strict: true, allErrors: true, verbose: true, allowUnionTypes: true })
  ajv.addVocabulary(['patternErrorMessage'])
  const idOf = (file: FileName) => file.replace('.yaml', '.schema.json')
  for (const file of FILES) ajv.addSchema(JSON.parse(readSchema(file)) as object, idOf(file))
  return new Map(FILES.map(file => [file, ajv.getSchema(idOf(file))!]))
}
