import { readFile } from 'node:fs/promises'
import { parse } from 'yaml'
import { shippedMethodsFile } from './paths.ts'

/** A rule, as far as the tests look into it. */
export interface ShippedRule {
  readonly cost?: number
  readonly dialects?: readonly string[]
}

/** The rules of the `methods.yaml` that the repository ships. */
export interface ShippedMethods {
  readonly families: Readonly<Record<string, Readonly<Record<string, ShippedRule>>>>
}

/** Reads the shipped rules. */
export async function shippedMethods(): Promise<ShippedMethods> {
  // Half the rules are aliases of a few anchors, and merges.
  const methods: ShippedMethods = parse(await readFile(shippedMethodsFile, 'utf8'), {
    maxAliasCount: -1,
    merge: true,
  })
  return methods
}

/** The text of the shipped file. */
export async function shippedMethodsText(): Promise<string> {
  return readFile(shippedMethodsFile, 'utf8')
}
