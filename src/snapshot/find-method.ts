import { isDenied } from '../config/denied.ts'
import { joinRule } from './join.ts'
import { covers } from './patterns.ts'
import type { MethodRow, Network } from './types.ts'

/** The row that governs a method: its exact name, else the first pattern to cover it unless the deny list has it. */
export function findMethod(network: Network, method: string): MethodRow | null {
  const exact = network.methods[method]
  if (exact !== undefined) return exact
  const pattern = network.patterns.find(({ rule }) => covers(rule.match, method))
  if (pattern === undefined || isDenied(method)) return null
  // Routes allow and deny by name, so the join of a pattern's row waits for the name.
  return { ...joinRule({ ...pattern.rule, match: method }, network.routes), rule: pattern.rule }
}
