/** Nodes that say they have a transaction already: after a lost reply that is the answer to sending it. */
import { decodeJson, rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { transactionOf } from './transaction.ts'

/** Whether a Solana node refuses a transaction because the chain has it: by its word for the error, or by its text. */
export function saysProcessed({
  error,
  message,
}: {
  readonly error: Raw
  readonly message: string
}): boolean {
  const { data } = decodeJson(error) as { data?: { err?: unknown } | null }
  return data?.err === 'AlreadyProcessed' || /already (been )?processed|AlreadyProcessed/i.test(message)
}

/** The signature of a sendTransaction call's transaction: what a node would have answered; null when it cannot be read. */
export function transactionSignature(params: Raw): Raw | null {
  const transaction = transactionOf(params)
  return transaction === null ? null : rawJson(transaction.signature)
}
