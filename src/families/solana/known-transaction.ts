/** Nodes that say they have a transaction already: after a lost reply that is the answer to sending it. */
import { rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { firstAt } from '../../jsonrpc/value-at.ts'
import { transactionOf } from './transaction.ts'

/** Whether a Solana node refuses a transaction because the chain has it: by its word for the error, or by its text. */
export function saysProcessed({
  error,
  message,
}: {
  readonly error: Raw
  readonly message: string
}): boolean {
  return (
    firstAt(error, ['data', 'err']) === '"AlreadyProcessed"' ||
    /already (been )?processed|AlreadyProcessed/i.test(message)
  )
}

/** The signature of a sendTransaction call's transaction: what a node would have answered; null when it cannot be read. */
export function transactionSignature(elements: readonly Raw[]): Raw | null {
  const transaction = transactionOf(elements)
  return transaction === null ? null : rawJson(transaction.signature)
}
