/** Which of the results that nodes give for one transaction can be believed. */
import { familyOf } from '../../families/families.ts'
import { hashDigits } from '../../families/hash.ts'
import { memberOf } from '../../jsonrpc/elements.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Request } from './request.ts'

/** What nodes answer to one transaction that is sent to several. */
export class SendResults {
  readonly #own: string | null
  readonly #said = new Set<string>()

  constructor({ network, params }: Pick<Request, 'network' | 'params'>) {
    this.#own = hashDigits(familyOf(network).transactionHash(params))
  }

  /** Whether it is the transaction's own hash. */
  isProven(result: Raw): boolean {
    return this.#own !== null && hashOfResult(result) === this.#own
  }

  /** Whether it is a hash at all. */
  isHash(result: Raw): boolean {
    return hashOfResult(result) !== null
  }

  /** Whether it need not wait for what others say: its own hash, or what another node has said. Where the bytes tell none, anything. */
  isBelieved(result: Raw): boolean {
    if (this.#own === null || this.isProven(result)) return true
    const hash = hashOfResult(result)
    if (hash === null) return false
    const isSecond = this.#said.has(hash)
    this.#said.add(hash)
    return isSecond
  }
}

/** The result is the hash of the transaction, or the receipt for which the call has waited; its digits. */
export function hashOfResult(result: Raw): string | null {
  return hashDigits(result.charCodeAt(0) === 123 ? memberOf(result, 'transactionHash') : result)
}
