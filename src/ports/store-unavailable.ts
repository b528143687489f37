/**
 * The store that several gateways share cannot be reached (refusal `store_unavailable`). Nothing was changed, unless `isUnknown`: then the connection was
 * lost while a change was being committed.
 */
export class StoreUnavailable extends Error {
  readonly isUnknown: boolean

  constructor(message: string, { isUnknown = false, cause }: { isUnknown?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.name = 'StoreUnavailable'
    this.isUnknown = isUnknown
  }
}
