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

export const securityHeaders: readonly string[] = [
  ...['Content-Security-Policy', POLICY],
  ...['X-Content-Type-Options', 'nosniff'],
  ...['X-Frame-Options', 'DENY'],
  ...['Referrer-Policy', 'no-referrer'],
  ...['Cross-Origin-Opener-Policy', 'same-origin'],
  ...['Cross-Origin-Resource-Policy', 'same-origin'],
]
