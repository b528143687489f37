import { isDenied } from '../config/denied.ts'
import { joinRule, namedByRoutes } from './join.ts'
import { byPrecedence, covers } from '../net/patterns.ts'
import type { MethodRow, Network } from './types.ts'

/** The row that governs a method: its exact name, else the first pattern to cover it unless the name is denied or switched off. */
export function findMethod(network: Network, method: string): MethodRow | null {
  const exact = network.methods[method]
  if (exact !== undefined) return exact
  if (network.patterns.length === 0) return null
  const pattern = network.patterns.find(({ rule }) => covers(rule.match, method))
  if (pattern === undefined || isDenied(method) || isOff(network, pattern, method)) return null
  return joined(network, pattern, method)
}

/** Whether a row that is switched off covers the method and governs it before the pattern does. */
function isOff({ off }: Network, { rule }: MethodRow, method: string): boolean {
  return off.some(match => covers(match, method) && (match === method || byPrecedence(match, rule.match) < 0))
}

/** What the rows of a network's patterns come to. */
interface Joins {
  /** What its routes allow or deny by name. */
  readonly named: readonly string[]
  /** By pattern and by which of `named` cover the method. */
  readonly rows: Map<string, MethodRow>
}

/** Rows kept for a network. */
const MAX_ROWS = 1000

const joins = new WeakMap<Network, Joins>()

/**
 * A pattern's row as the routes serve the method. Routes allow and deny by name, so methods that the same of those names cover share
 * one row: it is joined once, and there are as many rows as the configuration tells methods apart, whatever clients ask for.
 */
function joined(network: Network, pattern: MethodRow, method: string): MethodRow {
  let known = joins.get(network)
  if (known === undefined)
    joins.set(network, (known = { named: namedByRoutes(network.routes), rows: new Map() }))
  let kind = pattern.rule.match
  const { named, rows } = known
  for (let at = 0; at < named.length; at += 1) if (covers(named[at]!, method)) kind += ` ${at}`
  let row = rows.get(kind)
  if (row === undefined) {
    const { routes, privateSends } = network
    row = { ...joinRule({ ...pattern.rule, match: method }, routes, privateSends), rule: pattern.rule }
    // Templates of paths can be met in very many combinations.
    if (rows.size >= MAX_ROWS) rows.clear()
    rows.set(kind, row)
  }
  return row
}
