/** Answers that are kept and given again. */
import type { Raw } from '../jsonrpc/raw.ts'

/** Where an answer comes from: what it can be purged by. */
export interface AnswerOrigin {
  /** Slug. */
  readonly network: string
  /** The rule's name. */
  readonly method: string
  /** Id of the route that gave it. */
  readonly route: string
}

/** What ends an answer that does not hold for good; times are in milliseconds of the monotonic clock. */
export interface AnswerBounds {
  readonly until: number
  /** It is about a block that moves; null where it depends on the params alone. */
  readonly tip: AnswerTip | null
}

/** The block that an answer about the newest one is about. */
export interface AnswerTip {
  /** The number that the head, or the final block, had: it holds while it has it. */
  readonly block: number
  /** The height that the route was known to have when it was asked: not for readers who were shown more. */
  readonly height: number
}

/** One answer. */
export interface KeptAnswer {
  readonly result: Raw
  readonly origin: AnswerOrigin
  /** Null where it holds for good. */
  readonly bounds: AnswerBounds | null
}

/** Keeps answers by the bytes that ask for them, within a bound. */
export interface AnswerCache {
  find(key: string): KeptAnswer | null
  keep(key: string, answer: KeptAnswer): void
  /** Grows with each purge: the answer to a message that came before one is not kept after it. */
  readonly purges: number
  /** Drops the answers of this origin, at once, and says how many. */
  purge(which: Partial<AnswerOrigin>): number
  /** Bytes that it may take from now on; 0 keeps nothing. */
  resize(bytes: number): void
}
