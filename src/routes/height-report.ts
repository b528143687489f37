/** How far routes and networks have come, as one process tells another. Clocks differ between processes: times are milliseconds ago. */
import type { Anchor } from './claims.ts'

/** A height, and when it was reached. */
export interface AnchorReport {
  readonly height: number
  readonly ago: number
}

/** What two routes agreed on last. */
export interface AgreementReport extends AnchorReport {
  /** Blocks per millisecond by then, and the milliseconds that this is measured over. */
  readonly rate: number
  readonly over: number
}

/** What one route said of its height. */
export interface HeightReport {
  /** The height that it claims, and since when. */
  readonly height: number
  readonly ago: number
  /** The last height of it that is believed; null while none is. */
  readonly head: number | null
  /** The highest block that it has shown. */
  readonly shown: number | null
  /** What was believed of it last, and when it said so. */
  readonly believed: AnchorReport | null
  /** Milliseconds per block by its own steps; null until it made one. */
  readonly pace: number | null
}

/** How far a network has come. */
export interface TipReport {
  readonly head: number
  /** Milliseconds per block. */
  readonly blockTime: number
  /** The last height that is more than one route's word; null while there is none. */
  readonly anchor: AnchorReport | null
  readonly agreement: AgreementReport | null
}

/** An anchor as another process reads it: the clocks of two processes do not compare. */
export function agoOf<A extends Anchor>(
  anchor: A | null,
  now: number,
): (Omit<A, 'at'> & { ago: number }) | null {
  if (anchor === null) return null
  const { at, ...rest } = anchor
  return { ...rest, ago: now - at }
}

/** The anchor of a report that came now. */
export function anchorOf<R extends AnchorReport>(
  report: R | null,
  now: number,
): (Omit<R, 'ago'> & { at: number }) | null {
  if (report === null) return null
  const { ago, ...rest } = report
  return { ...rest, at: now - ago }
}
