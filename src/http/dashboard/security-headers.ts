/** What every reply of the dashboard tells browsers, as name, value, name, value. */

/** Nothing inline, nothing from elsewhere; `data:` is for the pictures in the style sheet. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headersWith = (policy: string): readonly string[] => [
  'Content-Security-Policy',
  policy,
  'X-Content-Type-Options',
  'nosniff',
  'X-Frame-Options',
  'DENY',
  'Referrer-Policy',
  'no-referrer',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cross-Origin-Resource-Policy',
  'same-origin',
]

/** Those of all that the dashboard consists of. */
export const securityHeaders = headersWith(POLICY)

/** Those of a picture that was not made here: opened by itself, an SVG is a document, which may only draw. */
export const imageHeaders = headersWith("default-src 'none'; style-src 'unsafe-inline'; sandbox")
