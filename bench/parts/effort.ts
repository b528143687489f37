/**
 * Rounds of each comparison, many and short: the machine changes from one second to the next. `ROUNDS=1 CALLS=1000 npm run bench` only shows that
 * everything runs.
 */
export const ROUNDS = Number(process.env['ROUNDS'] ?? 21)

/** Calls of each side in a round. */
export const CALLS = Number(process.env['CALLS'] ?? 10_000)

/** Connections of a load, with one call at a time on each. */
export const CONNECTIONS = 32
