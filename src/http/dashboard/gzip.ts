/** Compression of what the dashboard transfers. */
import { promisify } from 'node:util'
import { constants, gzip } from 'node:zlib'

const compress = promisify(gzip)

/** Bytes below which a reply stays as it is: it fits a few packets. */
const WORTH = 16 * 1024

/** Whether an Accept-Encoding header has gzip in it, and not with a weight of zero. */
export function takesGzip(accepted: string | string[] | undefined): boolean {
  return String(accepted ?? '')
    .split(',')
    .some(one => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(one))
}

/** A long body compressed, on a thread of its own and not on the event loop; null when it is short. */
export async function gzipLong(body: Buffer): Promise<Buffer | null> {
  return body.length < WORTH ? null : compress(body, { level: constants.Z_BEST_SPEED })
}
