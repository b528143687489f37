import { Ajv, type ValidateFunction } from 'ajv'
import { familyNames } from '../families.ts'
import { FILES, type FileName } from '../files.ts'
import { readSchema } from '../read.ts'

/** The schemas of all files as functions, and the instance that made them. */
export interface Compiled {
  readonly ajv: Ajv
  readonly validators: Readonly<Record<FileName, ValidateFunction>>
}

/** Compiles the JSON Schemas that ship with the package; `source` keeps the code of the functions. */
export function compileSchemas({ source = false } = {}): Compiled {
  const ajv = new Ajv({
    strict: true,
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    code: { source, esm: true },
  })
  ajv.addVocabulary(['patternErrorMessage'])
  const idOf = (file: FileName) => file.replace('.yaml', '.schema.json')
  for (const file of FILES) ajv.addSchema(withFamilies(JSON.parse(readSchema(file)) as object), idOf(file))
  const validators = Object.fromEntries(FILES.map(file => [file, ajv.getSchema(idOf(file))!]))
  return { ajv, validators: validators as Record<FileName, ValidateFunction> }
}

/** A schema with the families that do not ship, wherever it lists those that do. */
function withFamilies(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (key, value: object | string) => {
    if (typeof value === 'string') return value
    if (key === 'family') return { ...value, enum: familyNames() }
    if (key !== 'families' || !('properties' in value)) return value
    const all = familyNames().map(name => [name, { $ref: '#/definitions/rules' }])
    const properties = { ...(Object.fromEntries(all) as object), ...(value.properties as object) }
    return { ...value, properties }
  }) as object
}
