/** Why an upstream gave no answer, in a few words for operators: codes alone, as texts may hold addresses and keys. */

/** The message of a connection that took longer than `connectTimeout`. */
export const CONNECT_TIMEOUT = 'the connection was not made in time'

/** Codes of certificates that Node.js does not trust (Node.js, "X509 certificate error codes") and of their names. */
const UNTRUSTED = /^(?:CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|ERR_TLS_CERT_|INVALID_|HOSTNAME_|PATH_)/
const CODE = /^[A-Z][A-Z0-9_]{0,63}$/

/** Why a connection was not made; null where the error has no code. */
export function connectFault(error: Error & { readonly code?: unknown }): string | null {
  if (error.message === CONNECT_TIMEOUT) return 'timeout'
  // Of several addresses of a host, the first that failed.
  const [first] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  const code = error.code ?? (first as { code?: unknown } | undefined)?.code
  if (typeof code !== 'string' || !CODE.test(code)) return null
  return UNTRUSTED.test(code) ? `certificate not trusted: ${code}` : code
}

/** The same of a WebSocket, which ws may report by its message alone. */
export function socketFault(error: Error): string | null {
  const status = /^Unexpected server response: (\d{3})$/.exec(error.message)?.[1]
  if (status !== undefined) return `HTTP ${status}`
  return error.message === 'Opening handshake has timed out' ? 'timeout' : connectFault(error)
}

/** What came in place of an answer, by the lines of its head where they are known. */
export function replyFault(status: number, lines?: string): string {
  if (lines === undefined) return `HTTP ${status}`
  const type = /\r\ncontent-type:[ \t]*([\w.+-]{1,60}\/[\w.+-]{1,60})/i.exec(lines)?.[1]
  return `HTTP ${status}, ${type?.toLowerCase() ?? 'no content type'}`
}

/** A word for why a route failed, and its cause where that is known. */
export function withCause(why: string, cause: string | null | undefined): string {
  return cause == null ? why : `${why}: ${cause}`
}
