/** The requests of one socket that wait for their replies. */
import type { Reply } from '../../jsonrpc/message.ts'

/** Milliseconds that a request over the socket may take. */
const TIMEOUT = 10_000

/** Requests whose late replies are waited for. */
const MAX_LATE = 10_000

/** Told once: the reply, or null when it did not come in time, was not well formed, or the socket broke. */
export type OnReply = (reply: Reply | null) => void

/** Numbers requests, and gives each its reply. */
export class Requests {
  readonly #pending = new Map<number, OnReply>()
  /** Told of replies that come after their time: what they grant has to be undone. */
  readonly #late = new Map<number, OnReply>()
  #last = 0

  get size(): number {
    return this.#pending.size
  }

  /** Whether a request still waits. */
  has(id: number): boolean {
    return this.#pending.has(id)
  }

  /** Takes a number for the next request: numbers rise in the order in which requests are sent. */
  begin(onReply: OnReply, onLate: OnReply | null = null): number {
    this.#last += 1
    const id = this.#last
    const timer = setTimeout(() => {
      if (onLate !== null && this.#late.size < MAX_LATE) this.#late.set(id, onLate)
      this.settle(id, null)
    }, TIMEOUT)
    this.#pending.set(id, reply => {
      clearTimeout(timer)
      onReply(reply)
    })
    return id
  }

  /** Ends a request; false when there is none of that number. */
  settle(id: number, reply: Reply | null): boolean {
    const onReply = this.#pending.get(id) ?? (reply === null ? undefined : this.#late.get(id))
    if (!this.#pending.delete(id) && reply !== null) this.#late.delete(id)
    onReply?.(reply)
    return onReply !== undefined
  }

  /** Ends all of them without a reply. */
  settleAll(): void {
    this.#late.clear()
    for (const id of [...this.#pending.keys()]) this.settle(id, null)
  }
}
