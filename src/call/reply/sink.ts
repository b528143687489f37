/** Where a message's reply goes: an HTTP reply, or frames of a socket. */
import type { MessageHolder } from '../../limits/byte-budget.ts'
import type { Departure } from '../../net/departure.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { LongText } from '../../jsonrpc/long-text.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'

/** The transport's side of delivery. */
export interface Sink {
  /** Whether a reply may be written piece by piece. */
  readonly streams: boolean
  /** Where the bytes held for the message are counted; null where nothing is held. */
  readonly holder: MessageHolder | null
  /** Of the client; null where the transport cannot say. */
  readonly departure: Departure | null
  /** Has the reply say whether it comes from the cache; absent where replies have no headers. */
  cached?(status: 'hit' | 'miss'): void
  /** Sends a whole reply. `refusal` is set when that is all it holds. */
  whole(status: number, body: Raw, refusal: Refusal | null): void
  /** The same with a long one, where it may be written in pieces; over when all of it has been written, or the client is gone. */
  long(status: number, reply: LongText, refusal: Refusal | null): MaybePromise<void>
  /** There is nothing to say: notifications only. */
  empty(): void
  /** Begins a reply of unknown length. */
  begin(): void
  /** Writes a piece; resolves when more may be written, to false when the client is gone. */
  write(piece: Buffer): Promise<boolean>
  end(): void
  /** Goes on with the message when its connection has its turn: its work is long, and others wait. */
  later(goOn: () => void): void
  /** The message has been handled: what it holds may be given back once its reply has been sent. */
  done(): void
  /** Ends the connection so that the client cannot take the reply for a whole one. */
  cut(): void
}
