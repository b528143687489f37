/** The kinds of warnings: what `acknowledge` in gateway.yaml silences them by. */

/** Those that stand by themselves. */
export const KINDS = [
  'no-route',
  'private-without-sends',
  'paid-plan',
  'unknown-dialect',
  'unknown-network',
  'error-row-never-fits',
  'endpoints-without-network',
  'limits-per-gateway',
  'large-cache',
  'no-trusted-proxies',
  'no-tracing',
  'any-traceparent',
  'row-like-another',
  'keys-that-manage',
] as const

/** What begins the kinds that say which capability no route has, or that all are denied. */
export const NO_ROUTE = 'no-route:'

/** The kind of a warning. */
export type Kind = (typeof KINDS)[number] | `${typeof NO_ROUTE}${string}`
