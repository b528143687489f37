import type { Bounds } from './bounds.ts'
import type { Seen } from './seen.ts'

/** One bound: whether it was kept, and what was measured. */
export interface Finding {
  readonly kept: boolean
  readonly text: string
  /** Of bounds on times: which. */
  readonly time?: 'slower' | 'busy'
}

/** How often a scenario is played at most, and with plays on a machine that was too busy with other work to say anything. */
export const MAX_PLAYS = 3
export const MAX_PLAYS_IN_ALL = 8
/** Milliseconds at the 99th percentile before an attack from which on a machine is that busy: it is 5 to 10 elsewhere. */
export const TOO_BUSY = 50

/**
 * What the plays of one scenario show, in order. Each play must keep every bound; only of times the best play counts, each for itself, as the
 * machine is shared.
 */
export function findingsOf(plays: readonly Seen[], bounds: Bounds): Finding[] {
  return [...plays.flatMap(seen => lasting(seen, bounds)), ...times(plays, bounds)]
}

/**
 * Whether only a time is above its bound, and that may be the machine: by less than four times, or by however much where the gateway's own loop kept
 * to its bound, or where calls took long before the attack too. Then the scenario is played again.
 */
export function isWorthAnotherPlay(plays: readonly Seen[], bounds: Bounds): boolean {
  const last = plays.at(-1)!
  const fit = plays.filter(({ quiet }) => quiet <= TOO_BUSY)
  if (fit.length >= MAX_PLAYS || plays.length >= MAX_PLAYS_IN_ALL) return false
  if (lasting(last, bounds).some(({ kept }) => !kept)) return false
  const most = Math.max((last.attacked - last.quiet) / bounds.slower, last.busy / bounds.busy)
  return most > 1 && (most < 4 || last.busy <= bounds.busy || last.quiet > TOO_BUSY)
}

function lasting({ refused, wrong, routes, heads, memory, connections }: Seen, bounds: Bounds): Finding[] {
  const refusals = Object.values(refused).reduce((sum, count) => sum + count, 0)
  const moved = (routes['alpha-c'] ?? 0) + (routes['sol-b'] ?? 0)
  return [
    { kept: refusals <= bounds.refused, text: `refused: ${JSON.stringify(refused)}` },
    {
      kept: wrong.length === 0,
      text: `${wrong.length} wrong answers ${wrong.slice(0, 3).join(', ')}`.trim(),
    },
    { kept: moved <= bounds.moved, text: `${moved} calls were moved to another route` },
    { kept: heads === null, text: `each head once and in order${heads === null ? '' : `: ${heads}`}` },
    // NaN: this system does not show it.
    { kept: !(memory > bounds.memory), text: `${memory} MiB more` },
    { kept: !(connections > 0), text: `${connections} connections left` },
  ]
}

function times(plays: readonly Seen[], bounds: Bounds): Finding[] {
  const best = (of: (seen: Seen) => number): Seen =>
    plays.reduce((one, other) => (of(other) < of(one) ? other : one))
  const { quiet, attacked } = best(seen => seen.attacked - seen.quiet)
  const { busy } = best(seen => seen.busy)
  return [
    { kept: attacked <= quiet + bounds.slower, text: `${attacked} ms, quiet ${quiet} ms`, time: 'slower' },
    { kept: busy <= bounds.busy, text: `the event loop was busy for ${busy} ms`, time: 'busy' },
  ]
}
