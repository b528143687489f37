import { FILES, type FileName } from '../files.ts'
import { readSchema } from '../read.ts'

/** Of each file the keys that its schema marks as secrets (`writeOnly`), by the names of the maps that they stand in: `redis.url`. */
export type SecretKeys = Readonly<Record<FileName, readonly string[]>>

/** Reads them from the JSON Schemas that ship with the package. */
export function readSecretKeys(): SecretKeys {
  const keys = FILES.map(file => [file, [...new Set(secretsOf(JSON.parse(readSchema(file)), ''))]])
  return Object.fromEntries(keys) as SecretKeys
}

/** Those below a schema whose values stand under `path`; what lists and definitions hold begins there. */
function secretsOf(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return []
  return Object.entries(schema).flatMap(([keyword, inner]) =>
    keyword === 'properties' ? namedSecrets(inner as object, path) : secretsOf(inner, path),
  )
}

function namedSecrets(properties: object, path: string): string[] {
  return Object.entries(properties).flatMap(([name, each]) => {
    const key = path === '' ? name : `${path}.${name}`
    return [...(isSecret(each) ? [key] : []), ...secretsOf(each, key)]
  })
}

function isSecret(schema: unknown): boolean {
  return (schema as { readonly writeOnly?: boolean } | null)?.writeOnly === true
}
