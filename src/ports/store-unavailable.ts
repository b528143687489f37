/** Who is to be asked is not there now. That is to be expected and passes by itself: a warning in the log, and no stack. */
export class Away extends Error {}

/**
 * The store that several gateways share cannot be reached (refusal `store_unavailable`). Nothing was changed, unless `isUnknown`: then the connection was
 * lost while a change was being committed.
 */
export class StoreUnavailable extends Away {
  readonly isUnknown: boolean

  constructor(message: string, { isUnknown = false, cause }: { isUnknown?: boolean; cause?: unknown } = {}) {
    super(message, { cause })
    this.name = 'StoreUnavailable'
    this.isUnknown = isUnknown
  }

  /** What who asked for the change may know: nothing of where the store is. */
  get publicMessage(): string {
    return this.isUnknown
      ? 'The database of accounts was lost while the change was written; whether it was made is not known'
      : 'The database of accounts cannot be reached; nothing was changed'
  }
}
