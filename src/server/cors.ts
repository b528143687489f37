/** CORS (Fetch standard, "CORS protocol"): any page may call unless the operator lists origins; never credentials. */

const EXPOSED = 'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'
const ANY = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED]
/** Seconds that a browser may keep a preflight's answer. */
const MAX_AGE = '86400'

/** The CORS headers of a reply, as name, value, name, value. */
export function corsHeaders(origins: readonly string[], origin: string | undefined): readonly string[] {
  if (origins.includes('*')) return ANY
  const headers = ['Vary', 'Origin']
  if (origin !== undefined && origins.includes(origin))
    headers.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', EXPOSED)
  return headers
}

/** What a preflight is answered beyond that; requested headers are reflected (Solana's clients send their own). */
export function preflightHeaders(requested: string | undefined): string[] {
  return [
    ...['Access-Control-Allow-Methods', 'POST, OPTIONS'],
    ...['Access-Control-Allow-Headers', requested ?? 'content-type'],
    ...['Access-Control-Max-Age', MAX_AGE],
  ]
}
