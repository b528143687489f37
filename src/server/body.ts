/** Reads request bodies within a bound. */
import type { IncomingMessage } from 'node:http'
import { invite } from './invite.ts'

/** Why there is no body. */
export type NoBody = 'too_large' | 'no_room' | 'gone'

/** Where the bytes of a body are counted; says whether there is room for more. */
export interface Holder {
  grow(bytes: number): boolean
}

/** The whole body, or why there is none. Stops reading as soon as the bound is passed, or `holder` has no room for a piece. */
export function readBody(
  request: IncomingMessage,
  limit: number,
  holder: Holder | null = null,
): Promise<Buffer | NoBody> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.resolve('too_large')
  invite(request)
  return new Promise(resolve => {
    const chunks: Buffer[] = []
    let size = 0
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit && holder?.grow(chunk.length) !== false) {
        chunks.push(chunk)
        return
      }
      request.pause()
      request.removeAllListeners('data')
      resolve(size > limit ? 'too_large' : 'no_room')
    })
    request.on('end', () => {
      resolve(chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks))
    })
    request.on('close', () => {
      resolve('gone')
    })
  })
}

/** Whether a Content-Type says JSON in UTF-8 and nothing else (RFC 8259, section 8.1). */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true
  return /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i.test(contentType ?? '')
}
