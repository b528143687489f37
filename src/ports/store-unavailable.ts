/** Who is to be asked is not there now. That is to be expected and passes by itself: a warning in the log, and no stack. */
export class Away extends Error {
  /** What a caller may know: nothing of which process or store it is. */
  readonly publicMessage: string = 'A part of the gateway is being restarted; try again in a moment'
}

/**
 * The store that several gateways share cannot be reached (refusal `store_unavailable`). Nothing was changed, unless `isUnknown`: then the connection was
 * lost while a change was being committed.
 */
export class StoreUnavailable extends Away {
  readonly isUnknown: boolean
  override readonly publicMessage: string

  constructor(message: string, { isUnknown = false, cause }: { isUnknown?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.name = 'StoreUnavailable'
    this.isUnknown = isUnknown
    this.publicMessage = isUnknown
      ? 'The database of accounts was lost while the change was written; whether it was made is not known'
      : 'The database of accounts cannot be reached; nothing was changed'
  }
}
