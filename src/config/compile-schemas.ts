import { Ajv, type ValidateFunction } from 'ajv'
import { FILES, type FileName } from './files.ts'
import { readSchema } from './read.ts'

/** The schemas of all files as functions, and the instance that made them. */
export interface Compiled {
  readonly ajv: Ajv
  readonly validators: Readonly<Record<FileName, ValidateFunction>>
}

/** Compiles the JSON Schemas that ship with the package; `source` keeps the code of the functions. */
export function compileSchemas({ source = false } = {}): Compiled {
  const ajv = new Ajv({
    ...{ strict: true, allErrors: true, verbose: true, allowUnionTypes: true },
    code: { source, esm: true },
  })
  ajv.addVocabulary(['patternErrorMessage'])
  const idOf = (file: FileName) => file.replace('.yaml', '.schema.json')
  for (const file of FILES) ajv.addSchema(JSON.parse(readSchema(file)) as object, idOf(file))
  const validators = Object.fromEntries(FILES.map(file => [file, ajv.getSchema(idOf(file))!]))
  return { ajv, validators: validators as Record<FileName, ValidateFunction> }
}
