/** Sends a file of the browser program. */
import type { Asset } from './asset.ts'
import { takesGzip } from './gzip.ts'
import { imageHeaders, securityHeaders } from './security-headers.ts'
import { send } from './visit.ts'
import type { PageVisit } from './visit.ts'

const NOTHING = Buffer.alloc(0)

/** Answers GET and HEAD: from the browser's cache, compressed, or as it is. */
export function sendFile(visit: PageVisit, { type, body, gzip, etag, hashed, isImage }: Asset): void {
  const safety = isImage === true ? imageHeaders : securityHeaders
  const { headers } = visit.request
  const caching = [
    'Cache-Control',
    hashed ? 'public, max-age=31536000, immutable' : 'no-cache',
    'ETag',
    etag,
    'Vary',
    'Accept-Encoding',
  ]
  if (headers['if-none-match'] === etag) {
    send(visit, 304, caching, NOTHING, safety)
    return
  }
  const packed = takesGzip(headers['accept-encoding']) ? gzip : null
  const encoding = packed === null ? [] : ['Content-Encoding', 'gzip']
  send(visit, 200, ['Content-Type', type, ...caching, ...encoding], packed ?? body, safety)
}
