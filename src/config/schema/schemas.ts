import type { ErrorObject } from 'ajv'
import type { FileName } from '../files.ts'
import { validatorOf } from '../validators.ts'

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

/** What a file's JSON Schema has against a value. */
export function schemaErrors(file: FileName, value: unknown): readonly ErrorObject[] {
  const validate = validatorOf(file)
  return validate(value) ? [] : (validate.errors ?? [])
}
