/**
 * The JSON Schemas as functions. Compiling them takes a quarter of a second of CPU, so the built program has in place of this
 * file what it comes to: build/validators.ts.
 */
import type { ValidateFunction } from 'ajv'
import { compileSchemas } from './schema/compile-schemas.ts'
import { readSecretKeys } from './schema/secret-keys.ts'
import type { SecretKeys } from './schema/secret-keys.ts'
import type { FileName } from './files.ts'

let compiled: Readonly<Record<FileName, ValidateFunction>> | undefined
let secrets: SecretKeys | undefined

/** What checks the shape of a file. */
export function validatorOf(file: FileName): ValidateFunction {
  compiled ??= compileSchemas().validators
  return compiled[file]
}

/** The names of the keys of each file whose values are never shown. */
export function secretKeys(): SecretKeys {
  return (secrets ??= readSecretKeys())
}
