/** Stand-in with the interface of the real one. */
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Family } from '../../snapshot/types.ts'
import { classOf } from '../node-errors.ts'

export type NodeErrorClass =
  | 'answer'
  | 'missing'
  | 'behind'
  | 'unsupported'
  | 'too_wide'
  | 'limited'
  | 'billing'
  | 'unavailable'
  | 'internal'

export interface JudgedCall {
  readonly family: Family
  readonly method: string
  readonly params: Raw
  readonly isRange: boolean
  readonly rows: readonly unknown[]
}

const WORDS = {
  missing_state: 'missing',
  not_yet: 'missing',
  unsupported: 'unsupported',
  limited: 'limited',
  syncing: 'unavailable',
  internal: 'internal',
} as const

export function classify(
  error: { readonly code: number; readonly message: string; readonly error: Raw },
  call: JudgedCall,
): NodeErrorClass {
  const old = classOf(error, call.family)
  return old === null ? 'answer' : WORDS[old]
}
