/** Ids of traces and spans, and the header that carries them (W3C Trace Context, level 1). */
import { randomBytes } from 'node:crypto'

/** A place in a trace. */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string
  /** 16 hex digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

/** Characters of a header of version 00, which those of later versions begin with. */
const LENGTH = 55
const DASH = 45
/** Version, trace, span and flags; no version ff, and neither id is all zeros. */
const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/

/** What a header says; null where it is not well-formed. Length and dashes come first, as most of what is wrong is wrong there. */
export function parseTraceparent(header: string): TraceContext | null {
  if (header.length < LENGTH || !hasDashes(header)) return null
  if (header.length > LENGTH && (header.startsWith('00') || header.charCodeAt(LENGTH) !== DASH)) return null
  const [, traceId, spanId, flags] = FORM.exec(header.slice(0, LENGTH)) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  return { traceId, spanId, isSampled: (parseInt(flags, 16) & 1) === 1 }
}

function hasDashes(header: string): boolean {
  return header.charCodeAt(2) === DASH && header.charCodeAt(35) === DASH && header.charCodeAt(52) === DASH
}

/** The header for a place in a trace. */
export function formatTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`
}

/** Hex digits of one draw: to ask the system for each id costs more than a span. */
let pool = ''
let drawn = 0

function randomHex(digits: number): string {
  if (drawn + digits > pool.length) {
    pool = randomBytes(4096).toString('hex')
    drawn = 0
  }
  drawn += digits
  const id = pool.slice(drawn - digits, drawn)
  return id === ZEROS.slice(0, digits) ? randomHex(digits) : id
}

const ZEROS = '0'.repeat(32)

/** A trace of our own. */
export function newTraceId(): string {
  return randomHex(32)
}

/** A span. */
export function newSpanId(): string {
  return randomHex(16)
}
