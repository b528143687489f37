import { FILES, type FileName } from '../files.ts'
import { readSchema } from '../read.ts'

/** Of each file the names of the keys that its schema marks as secrets (`writeOnly`). */
export type SecretKeys = Readonly<Record<FileName, readonly string[]>>

/** Reads them from the JSON Schemas that ship with the package. */
export function readSecretKeys(): SecretKeys {
  const keys = FILES.map(file => [file, [...new Set(secretsOf(JSON.parse(readSchema(file))))]])
  return Object.fromEntries(keys) as SecretKeys
}

function secretsOf(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {} } = schema as { readonly properties?: Readonly<Record<string, unknown>> }
  const own = Object.entries(properties).flatMap(([name, each]) => (isSecret(each) ? [name] : []))
  return [...own, ...Object.values(schema).flatMap(secretsOf)]
}

function isSecret(schema: unknown): boolean {
  return (schema as { readonly writeOnly?: boolean } | null)?.writeOnly === true
}
