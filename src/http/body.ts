/** Reads request bodies within a bound. */
import type { IncomingMessage } from 'node:http'
import type { Holder } from '../limits/byte-budget.ts'
import { sendContinue } from './connections/expect-continue.ts'

/** Chunks of a body that may be of any size; of more the average is bounded, because each costs far more memory than a few bytes. */
const FREE_CHUNKS = 1024
const SMALLEST_AVERAGE = 64

/** Why there is no body. */
export type NoBody = 'too_large' | 'no_room' | 'gone'

/** The whole body, or why there is none, within a bound in bytes. */
export function readBody(request: IncomingMessage, limit: number): Promise<Buffer | NoBody> {
  return new Promise(resolve => {
    collectBody(request, limit, null, resolve)
  })
}

/**
 * Tells `done` once of the whole body, or why there is none. Stops reading as soon as the bound is passed, or `holder` has no room for
 * a piece.
 */
export function collectBody(
  request: IncomingMessage,
  limit: number,
  holder: Holder | null,
  done: (body: Buffer | NoBody) => void,
): void {
  if (Number(request.headers['content-length'] ?? 0) > limit) {
    done('too_large')
    return
  }
  sendContinue(request)
  let first: Buffer | null = null
  let others: Buffer[] | null = null
  let size = 0
  let chunks = 0
  let over = false
  const end = (body: Buffer | NoBody): void => {
    if (over) return
    over = true
    done(body)
  }
  request.on('data', (chunk: Buffer) => {
    if (over) return
    size += chunk.length
    chunks += 1
    const isDust = chunks > FREE_CHUNKS && size < chunks * SMALLEST_AVERAGE
    if (size > limit || isDust || (holder?.take(chunk.length) ?? null) !== null) {
      request.pause()
      end(size > limit ? 'too_large' : 'no_room')
    } else if (first === null) first = chunk
    else if (others === null) others = [first, chunk]
    else others.push(chunk)
  })
  request.on('end', () => {
    end(others === null ? (first ?? EMPTY) : Buffer.concat(others))
  })
  request.on('close', () => {
    end('gone')
  })
}

const EMPTY = Buffer.alloc(0)

/** Whether a Content-Type says JSON in UTF-8 and nothing else (RFC 8259, section 8.1); some clients write `utf8`. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  return /^application\/json\s*(;\s*charset\s*=\s*"?utf-?8"?\s*)?;?\s*$/i.test(contentType ?? '')
}
