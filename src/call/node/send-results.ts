/** Decides which of the nodes' results for one transaction to trust. */
import { familyOf } from '../../families/families.ts'
import { hashDigits } from '../../families/hash.ts'
import { memberOf } from '../../jsonrpc/elements.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Request } from './request.ts'

/** The results for one transaction that was broadcast to several nodes. */
export class SendResults {
  readonly #request: Pick<Request, 'network' | 'elements'>
  readonly #said = new Set<string>()

  constructor(request: Pick<Request, 'network' | 'elements'>) {
    this.#request = request
  }

  /** The transaction's own hash, computed with the first result. */
  get #own(): string | null {
    const { network, elements } = this.#request
    return hashDigits(familyOf(network).transactionHash(elements))
  }

  /** Whether it is the transaction's own hash. */
  isProven(result: Raw): boolean {
    return this.#own !== null && hashOfResult(result) === this.#own
  }

  /** Whether it is a hash at all. */
  isHash(result: Raw): boolean {
    return hashOfResult(result) !== null
  }

  /**
   * Whether a result can be returned without waiting for other nodes: the transaction's own hash, or one that a second node has confirmed. If the
   * hash cannot be computed from the transaction, any result can.
   */
  isBelieved(result: Raw): boolean {
    if (this.#own === null || this.isProven(result)) return true
    const hash = hashOfResult(result)
    if (hash === null) return false
    const isSecond = this.#said.has(hash)
    this.#said.add(hash)
    return isSecond
  }
}

/** The hash in a result, which is either the hash itself or a receipt, as hex digits. */
export function hashOfResult(result: Raw): string | null {
  return hashDigits(result.charCodeAt(0) === 123 ? memberOf(result, 'transactionHash') : result)
}
