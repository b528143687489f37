/** The body of a reply that passes on while it comes. What it says about its route is known only when it has ended. */
import type { Readable } from 'node:stream'

/**
 * What breaks an exchange. `no_turn`: the request has waited in vain for a connection; `client_left`: nobody waits for it any more, and it was not
 * sent; `aborted`: we or the client let go of it.
 */
export type Break =
  'unreachable' | 'reset' | 'timeout' | 'too_large' | 'no_room' | 'no_turn' | 'client_left' | 'aborted'

/** How a body ended. */
export type BodyEnd = 'whole' | 'bad_reply' | Break

/** Ends that are the upstream's doing. */
const BROKEN_OFF: ReadonlySet<BodyEnd> = new Set(['reset', 'timeout', 'bad_reply'])

/**
 * Milliseconds that the client may have kept the body waiting, all waits together, for a break to count against the upstream: servers
 * end replies that are read too slowly.
 */
const SLOW_CLIENT = 1_000

/** Destroys a source of which the reason is known. */
export class BodyError extends Error {
  readonly how: BodyEnd

  constructor(how: BodyEnd) {
    super(`upstream reply broke: ${how}`)
    this.how = how
  }
}

/** What a body is made of. */
export interface BodyOptions {
  /** What is read of the source, and checked meanwhile; it throws where the reply is not well formed. */
  readonly pieces: () => AsyncIterable<Buffer>
  /** An event stream: it is whole whenever somebody lets go of it. */
  readonly endless?: boolean
}

/** A body for one reader, who reads it to its end or destroys it. */
export class StreamedBody implements AsyncIterable<Buffer> {
  /** Resolves once, when it has ended. */
  readonly ended: Promise<BodyEnd>
  /** Whether it has ended, and the upstream broke it off. */
  isBrokenOff = false
  readonly #source: Readable
  readonly #pieces: () => AsyncIterable<Buffer>
  readonly #end: (end: BodyEnd) => void

  constructor(source: Readable, { pieces, endless = false }: BodyOptions) {
    let resolve: (end: BodyEnd) => void = () => undefined
    this.ended = new Promise(done => (resolve = done))
    let isOver = false
    this.#end = end => {
      if (isOver) return
      isOver = true
      this.isBrokenOff = BROKEN_OFF.has(end)
      resolve(end === 'aborted' && endless ? 'whole' : end)
    }
    this.#source = source
    this.#pieces = pieces
    // It may break before it is read: the reader is told then.
    source.on('error', () => undefined)
  }

  /** Lets go of the upstream. */
  destroy(): void {
    this.#end('aborted')
    this.#source.destroy()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    let waited = 0
    try {
      for await (const piece of this.#pieces()) {
        const begin = performance.now()
        yield piece
        waited += performance.now() - begin
      }
      this.#end('whole')
    } catch (error) {
      // A reader that leaves does not come here: only the source throws.
      this.#end(waited > SLOW_CLIENT ? 'aborted' : this.#howOf(error))
      throw error
    } finally {
      this.destroy()
    }
  }

  #howOf(error: unknown): BodyEnd {
    if (error instanceof BodyError) return error.how
    return error === this.#source.errored ? 'reset' : 'bad_reply'
  }
}
