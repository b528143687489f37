import { refusalTable } from './table.ts'
import type { Reason } from './table.ts'

/** A call that the gateway will not serve: a value, never an exception. A class, so that telling one takes one look. */
export class Refusal {
  readonly reason: Reason
  readonly message: string
  /** Further members of `error.data`, each bounded and free of secrets. */
  readonly data: Readonly<Record<string, unknown>>

  constructor(reason: Reason, message: string, data: Readonly<Record<string, unknown>>) {
    this.reason = reason
    this.message = message
    this.data = data
  }
}

/** Tells a stage's output from a refusal. */
export function isRefusal(value: object): value is Refusal {
  return value instanceof Refusal
}

/** The data of a refusal that says nothing more. */
export const NO_DATA: Refusal['data'] = {}

/**
 * Which column of codes applies: `http` is the JSON-RPC door of a network of the family http, `path` its verbatim paths, where refusals have the
 * shape of the API's own errors.
 */
export type CodeColumn = 'evm' | 'solana' | 'http' | 'path'

/** What calls are told that the end of the gateway cuts short. */
export const SHUTTING_DOWN = 'The gateway is shutting down'

/** A refusal by its row of the table; `detail` says more than the row's sentence where it can. */
export function refuse(
  reason: Reason,
  detail?: string,
  data: Readonly<Record<string, unknown>> = NO_DATA,
): Refusal {
  return new Refusal(reason, detail ?? refusalTable[reason].message, data)
}

/** HTTP status of a reply that holds nothing but this refusal. */
export function statusOf(refusal: Refusal, column: CodeColumn = 'evm'): number {
  const row = refusalTable[refusal.reason]
  return column === 'http' || column === 'path' ? (row.http ?? row.status) : row.status
}
