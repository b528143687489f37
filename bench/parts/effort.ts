/**
 * How often the processes of a comparison are started: two starts of one program differ by as much as is measured, by where their memory lies
 * and what V8 makes of it. `STARTS=1 ROUNDS=1 CALLS=1000 npm run bench` only shows that everything runs.
 */
export const STARTS = Number(process.env['STARTS'] ?? 3)

/** Rounds of each comparison at each start, many and short: the machine changes from one second to the next. */
export const ROUNDS = Number(process.env['ROUNDS'] ?? 7)

/** Rounds of what is started once. */
export const ALL_ROUNDS = STARTS * ROUNDS

/** Calls of each side in a round. */
export const CALLS = Number(process.env['CALLS'] ?? 10_000)

/** Connections of a load, with one call at a time on each. */
export const CONNECTIONS = 32
