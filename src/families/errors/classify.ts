/** What a node's JSON-RPC error means: one order of judgement, from data. HTTP statuses are judged before. */
import type { Raw } from '../../jsonrpc/raw.ts'
import { covers } from '../../net/patterns.ts'
import type { ErrorRow, Family, NodeErrorClass } from '../../snapshot/types.ts'
import { familyOf } from '../families.ts'
import type { NodeError } from './outcome.ts'
import { compilePattern, matchPattern } from './pattern.ts'
import type { Pattern } from './pattern.ts'
import { isQuotation } from './quotes.ts'
import { EVERY_CODE, INVALID_CALL } from './row.ts'

/** Characters of a message that are looked at. */
const MOST_OF_A_MESSAGE = 2048

/** The call that drew an error, as far as it matters for what the error means. */
export interface JudgedCall {
  readonly family: Family
  readonly method: string
  /** As they went upstream: a valid JSON array or object. */
  readonly params: Raw
  /** Whether the call reads a range of blocks, which another route may allow to be wider. */
  readonly isRange: boolean
  /** The operator's rows: the route's own, then those of all routes. */
  readonly rows: readonly ErrorRow[]
}

interface CompiledRow {
  readonly row: ErrorRow
  readonly pattern: Pattern | null
}

/** Lists of rows are compiled when they are first used; a reload brings new lists. */
const compiled = new WeakMap<readonly ErrorRow[], readonly CompiledRow[]>()

/**
 * The class of a node's error. The outcome of an execution is an answer; the text of a message that quotes the call is
 * not read; of the operator's rows and the shipped ones the first that fits decides, and no row at all is an answer.
 */
export function classify(error: NodeError, call: JudgedCall): NodeErrorClass {
  return matchingRow(error, call)?.class ?? 'answer'
}

/** The row that decides; null when none does, or the error is the outcome of an execution. */
export function matchingRow(error: NodeError, call: JudgedCall): ErrorRow | null {
  const { errors } = familyOf(call)
  const message = error.message.slice(0, MOST_OF_A_MESSAGE).toLowerCase().trimStart()
  for (const { row, pattern } of compile(errors.outcomes))
    if (fits(row, error.code, call) && pattern !== null && matchPattern(pattern, message) !== null) return row
  if (errors.isOutcome(error, message)) return null
  let quotes: boolean | null = null
  for (const rows of [call.rows, errors.table])
    for (const { row, pattern } of compile(rows)) {
      if (!fits(row, error.code, call)) continue
      if (pattern === null) return row
      if (quotes === true) continue
      const spans = matchPattern(pattern, message)
      if (spans === null) continue
      // Whether the call is quoted is asked once, and only of messages that would mean something.
      quotes = isQuotation(message, spans, call.params)
      if (!quotes) return row
    }
  return null
}

/** Whether everything but the text fits. */
function fits({ codes, methods, family, class: means }: ErrorRow, code: number, call: JudgedCall): boolean {
  if (codes === null ? INVALID_CALL.includes(code) && !EVERY_CODE.has(means) : !codes.includes(code))
    return false
  if (means === 'too_wide' && !call.isRange) return false
  if (family !== null && family !== call.family) return false
  return methods === null || methods.some(written => covers(written, call.method))
}

function compile(rows: readonly ErrorRow[]): readonly CompiledRow[] {
  const known = compiled.get(rows)
  if (known !== undefined) return known
  const fresh = rows.map(row => ({ row, pattern: row.text === null ? null : compilePattern(row.text) }))
  compiled.set(rows, fresh)
  return fresh
}
