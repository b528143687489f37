/**
 * The JSON Schemas as functions. Compiling them takes a quarter of a second of CPU, so the built program has in place of this
 * file what it comes to: build/validators.ts.
 */
import type { ValidateFunction } from 'ajv'
import { compileSchemas } from './schema/compile-schemas.ts'
import type { FileName } from './files.ts'

let compiled: Readonly<Record<FileName, ValidateFunction>> | undefined

/** What checks the shape of a file. */
export function validatorOf(file: FileName): ValidateFunction {
  compiled ??= compileSchemas().validators
  return compiled[file]
}
