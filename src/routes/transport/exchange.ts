/** One HTTP exchange with one upstream: bytes out, bytes or a break in. No meaning is read into them here. */
import type { Readable } from 'node:stream'
import type { Holder } from '../../limits/byte-budget.ts'
import type { Departure } from '../../net/departure.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Break } from './streamed-body.ts'

/** How an exchange broke, and whether the upstream may have seen the request. */
export interface Broken {
  readonly kind: 'broken'
  readonly how: Break | NotInOneBody
  readonly sent: boolean
  /** Why it could not be reached, for operators. */
  readonly cause?: string | null
  readonly isPaidFor?: IsPaidFor
}

/** Set where another call that went in the same body pays for the retry. */
type IsPaidFor = true

/** Why a call that went in one body with others has to go by itself: its upstream took the body badly, or the reply was too long to hold. */
export type NotInOneBody = 'batch_refused' | 'batch_too_long'

/** What came back. */
export type Exchange =
  | {
      readonly kind: 'whole'
      readonly status: number
      readonly retryAfter: string | null
      readonly body: Raw
      /** The lines of its head; absent where it is a part of a reply. */
      readonly lines?: Raw
      /** Has nothing more sent over its connection, which brought something else than the answer. */
      readonly retire?: () => void
      readonly isPaidFor?: IsPaidFor
    }
  /** The reply is longer than what is held back: its first part, and the rest as it comes. */
  | { readonly kind: 'open'; readonly status: number; readonly head: Buffer; readonly tail: Readable }
  | Broken

/** Bounds of one exchange. */
export interface ExchangeLimits {
  /** Milliseconds until the first `holdBack` bytes, or all, have come. */
  readonly timeout: number
  /** Bytes kept before a reply is handed on open. */
  readonly holdBack: number
  /** Most bytes of a reply; null is no cap. */
  readonly maxBytes: number | null
  /** Ends the exchange early; null where nobody may. */
  readonly departure: Departure | null
  /** Milliseconds that an open reply may be silent while the client reads; a minute where nothing is said. */
  readonly silence?: number
  /** Where what is held back is counted; nowhere for questions of our own. */
  readonly holder?: Holder | null
}
