/** What a node's JSON-RPC error is about. Data: the first row that matches decides; no row means it is an answer. */
import type { Family } from '../snapshot/types.ts'

/** Classes of node errors that another route may not have. */
export type NodeErrorClass = 'missing_state' | 'not_yet' | 'unsupported' | 'limited' | 'syncing' | 'internal'

/** One row: a code, a text (any case), or both; for one family where others mean something else by it. */
export interface NodeErrorRow {
  readonly code?: number
  readonly text?: RegExp
  readonly family?: Family
  readonly class: NodeErrorClass
}

/** Execution reverted, bad params and the like match nothing here: they are the answer to the call. */
export const nodeErrors: readonly NodeErrorRow[] = [
  { text: /missing trie node/i, class: 'missing_state' },
  { text: /historical state .*(unavailable|not available)/i, class: 'missing_state' },
  { text: /required historical state unavailable/i, class: 'missing_state' },
  { text: /state (has been|is) pruned/i, class: 'missing_state' },
  { text: /state at block #?\S+ is pruned/i, class: 'missing_state' },
  { text: /distance to target block exceeds maximum proof window/i, class: 'missing_state' },
  { text: /old data not available due to pruning/i, class: 'missing_state' },
  { text: /no state available for block/i, class: 'missing_state' },
  { text: /world state unavailable/i, class: 'missing_state' },
  { text: /pruned history unavailable/i, class: 'missing_state' },
  { code: 4444, class: 'missing_state' },
  { text: /header not found/i, class: 'missing_state' },
  { text: /block #?\d+ not found/i, class: 'missing_state' },
  { text: /unknown block/i, class: 'missing_state' },
  { text: /cannot query unfinalized data/i, class: 'missing_state' },
  { text: /after last accepted block/i, class: 'missing_state' },
  { code: -32601, class: 'unsupported' },
  { code: 429, class: 'limited' },
  { code: -32007, text: /limit|too many|request/i, class: 'limited' },
  { code: -32005, text: /limit|too many|rate|exceeded|capacity/i, class: 'limited' },
  { text: /rate limit|too many requests|daily request count exceeded|capacity exceeded/i, class: 'limited' },
  { text: /node is syncing|still syncing|not synced|sync in progress/i, class: 'syncing' },
  // Agave's own codes. What it says of the transaction or the params (-32002, -32003, -32006, -32013, -32015, …), and
  // that a slot was skipped (-32007), is the answer.
  { family: 'solana', code: -32001, class: 'missing_state' },
  { family: 'solana', code: -32009, class: 'missing_state' },
  { family: 'solana', code: -32011, class: 'missing_state' },
  { family: 'solana', code: -32004, class: 'not_yet' },
  { family: 'solana', code: -32014, class: 'not_yet' },
  { family: 'solana', code: -32016, class: 'not_yet' },
  { family: 'solana', code: -32002, text: /blockhash not found/i, class: 'not_yet' },
  { family: 'solana', code: -32005, class: 'syncing' },
  { family: 'solana', code: -32008, class: 'unsupported' },
  { family: 'solana', code: -32010, class: 'unsupported' },
  { family: 'solana', code: -32012, class: 'internal' },
  { family: 'solana', code: -32019, class: 'internal' },
  { code: -32603, class: 'internal' },
]

/** The class of a node's error; null when it is an answer to the call. */
export function classOf(
  error: { readonly code: number; readonly message: string },
  of: Family = 'evm',
): NodeErrorClass | null {
  const row = nodeErrors.find(
    ({ code, text, family }) =>
      (family === undefined || family === of) &&
      (code === undefined || code === error.code) &&
      (text?.test(error.message) ?? true),
  )
  return row?.class ?? null
}
