/** CORS (Fetch standard, "CORS protocol"): any page may call unless the operator lists origins; never credentials. */

const EXPOSED = 'X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After'
const ANY = ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', EXPOSED]
/** Seconds that a browser may keep a preflight's answer. */
const MAX_AGE = '86400'

/** The CORS headers of a reply, as name, value, name, value; `more` names further headers that pages may read. */
export function corsHeaders(
  origins: readonly string[],
  origin: string | undefined,
  more: readonly string[] = [],
): readonly string[] {
  if (more.length === 0 && origins.includes('*')) return ANY
  const exposed = more.length === 0 ? EXPOSED : `${EXPOSED}, ${more.join(', ')}`
  if (origins.includes('*'))
    return ['Access-Control-Allow-Origin', '*', 'Access-Control-Expose-Headers', exposed]
  const headers = ['Vary', 'Origin']
  if (origin !== undefined && origins.includes(origin))
    headers.push('Access-Control-Allow-Origin', origin, 'Access-Control-Expose-Headers', exposed)
  return headers
}

/** What a preflight is answered beyond that; requested headers are reflected (Solana's clients send their own). */
export function preflightHeaders(requested: string | undefined, verbs: readonly string[]): string[] {
  return [
    ...['Access-Control-Allow-Methods', [...verbs, 'OPTIONS'].join(', ')],
    ...['Access-Control-Allow-Headers', requested ?? 'content-type'],
    ...['Access-Control-Max-Age', MAX_AGE],
  ]
}
