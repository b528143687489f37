import { isDenied } from '../config/denied.ts'
import { carriesTransaction } from '../config/sending/carries-transaction.ts'
import { joinRule, namedByRoutes } from './join.ts'
import { byPrecedence, covers, isPattern } from '../net/patterns.ts'
import type { MethodRow, Network } from './types.ts'

/** The row that governs a method: its exact name, else the first pattern to cover it unless the name is denied or switched off. */
export function findMethod(network: Network, method: string): MethodRow | null {
  const exact = network.methods[method]
  if (exact !== undefined) return exact
  if (network.patterns.length === 0) return null
  const pattern = network.patterns.find(({ rule }) => covers(rule.match, method))
  if (pattern === undefined || isDenied(method) || isOff(network, pattern, method)) return null
  const known = knownOf(network)
  return isOtherCase(pattern, method, known) ? null : joined(network, pattern, method, known)
}

/** Whether a row that is switched off covers the method and governs it before the pattern does. */
function isOff({ off }: Network, { rule }: MethodRow, method: string): boolean {
  return off.some(match => covers(match, method) && (match === method || byPrecedence(match, rule.match) < 0))
}

/** Whether a row ahead of the pattern has the name in another case: a node that ignores case would serve it past that row. */
function isOtherCase({ rule }: MethodRow, method: string, { folded, patterns }: KnownNames): boolean {
  const name = method.toLowerCase()
  if (folded.has(name)) return true
  return patterns.some(
    ([match, lower]) => covers(lower, name) && !covers(match, method) && byPrecedence(match, rule.match) < 0,
  )
}

/** What the rows of a network's patterns come to. */
interface KnownNames {
  /** The names of rows that are no patterns, switched off or not, in lower case. */
  readonly folded: ReadonlySet<string>
  /** Each pattern, switched off or not, and the same in lower case. */
  readonly patterns: readonly (readonly [match: string, lower: string])[]
  /** What its routes allow or deny by name. */
  readonly named: readonly string[]
  /** By pattern and by which of `named` cover the method. */
  readonly rows: Map<string, MethodRow>
}

/** Rows kept for a network. */
const MAX_ROWS = 1000

const knownNames = new WeakMap<Network, KnownNames>()

function knownOf(network: Network): KnownNames {
  let known = knownNames.get(network)
  if (known === undefined) {
    const { methods, patterns, off, routes } = network
    const all = [...Object.keys(methods), ...patterns.map(({ rule }) => rule.match), ...off]
    const lower = all.map(match => [match, match.toLowerCase()] as const)
    known = {
      folded: new Set(lower.filter(([match]) => !isPattern(match)).map(([, name]) => name)),
      patterns: lower.filter(([match]) => isPattern(match)),
      named: namedByRoutes(routes),
      rows: new Map(),
    }
    knownNames.set(network, known)
  }
  return known
}

/**
 * A pattern's row as the routes serve the method. Routes allow and deny by name, so methods that the same of those names cover share
 * one row: it is joined once, and there are as many rows as the configuration tells methods apart, whatever clients ask for.
 */
function joined(
  network: Network,
  pattern: MethodRow,
  method: string,
  { named, rows }: KnownNames,
): MethodRow {
  let kind = pattern.rule.match
  // A pattern says nothing of single names, so these are kept on private routes.
  const sends = pattern.rule.sends || (network.privateSends && carriesTransaction(method))
  if (sends) kind += ' sends'
  for (let at = 0; at < named.length; at += 1) if (covers(named[at]!, method)) kind += ` ${at}`
  let row = rows.get(kind)
  if (row === undefined) {
    const { routes, privateSends } = network
    const rule = sends === pattern.rule.sends ? pattern.rule : { ...pattern.rule, sends }
    row = { ...joinRule({ ...rule, match: method }, routes, privateSends), rule }
    // Templates of paths can be met in very many combinations.
    if (rows.size >= MAX_ROWS) rows.clear()
    rows.set(kind, row)
  }
  return row
}
