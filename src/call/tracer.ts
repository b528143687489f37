/**
 * Which tracers a call asks for, and for how long: any name but the built-in ones is JavaScript that the operator's node would run,
 * and a long time or many replayed blocks keep it busy after the caller has its answer.
 */
import { membersOf, pickBounded, pickMembers, MAX_READ } from '../jsonrpc/elements.ts'
import { decodeJson } from '../jsonrpc/raw.ts'
import type { MembersBound } from '../jsonrpc/elements.ts'
import type { Raw } from '../jsonrpc/raw.ts'

/** Bytes of a tracer's name or a time; what is longer is no name but JavaScript. */
const MAX_NAME = 256
/** How deep muxTracer may hold itself, which serves nobody; each level is read once more. */
const MUX_LEVELS = 2
/** Blocks that a node may execute again to come to a state: geth's default, which its path scheme does not need. */
const MAX_REEXEC = 128

/** What a row allows. */
export interface TracerBounds {
  readonly allowed: readonly string[]
  /** Milliseconds that a node may work on one trace. */
  readonly timeoutMs: number
}

/** What is wrong with tracer options, and what would be allowed. */
export interface TracerFault {
  readonly why: string
  readonly data: Readonly<Record<string, unknown>>
}

/** What is wrong with the tracer options among a call's params; null when nothing is. */
export function tracerFault(elements: readonly Raw[], bounds: TracerBounds): TracerFault | null {
  for (const [index, element] of elements.entries())
    if (element.charCodeAt(0) === 123) {
      const fault = optionFault(element, bounds, index === 0 ? ANY_LENGTH : SHORT_OPTIONS)
      if (fault !== null) return fault
    }
  return null
}

/** The first parameter says what is traced: a call holds its data. */
const ANY_LENGTH: MembersBound = { most: Infinity, free: [] }
/** Overrides hold code and state, and are passed on unread. */
const SHORT_OPTIONS: MembersBound = { most: MAX_READ, free: ['stateOverrides', 'blockOverrides'] }

const OPTIONS = ['tracer', 'tracerConfig', 'timeout', 'reexec']

function optionFault(options: Raw, bounds: TracerBounds, length: MembersBound): TracerFault | null {
  const { allowed } = bounds
  const values = pickBounded(options, OPTIONS, length)
  if (values === null) return tooLong('tracer options without their overrides have')
  const twice = values.indexOf(null)
  if (twice !== -1) return unnamed(`the member "${OPTIONS[twice]!}" ${VARIANT}`, allowed)
  const [tracer, config, timeout, reexec] = values
  const excess = timeFault(timeout ?? undefined, bounds) ?? reexecFault(reexec ?? undefined)
  if (excess !== null) return excess
  if (config != null && config.length > MAX_READ) return tooLong('"tracerConfig" has')
  if (config?.charCodeAt(0) === 123) {
    const nested = nestedFault(config, bounds)
    if (nested !== null) return nested
  }
  if (tracer === undefined || tracer === null || tracer === 'null') return null
  const name =
    tracer.charCodeAt(0) === 34 && tracer.length <= MAX_NAME ? (decodeJson(tracer) as string) : null
  // The empty name is geth's default struct logger.
  if (name === null || (name !== '' && !allowed.includes(name)))
    return unnamed('this tracer is not allowed', allowed)
  return name === 'muxTracer' ? muxFault(config ?? undefined, bounds, MUX_LEVELS) : null
}

/** muxTracer's configuration is keyed by tracer, and geth would run any of its keys. */
function muxFault(config: Raw | undefined, bounds: TracerBounds, levels: number): TracerFault | null {
  const { allowed } = bounds
  if (levels === 0) return unnamed('muxTracer holds itself too often', allowed)
  if (config === undefined || config === 'null') return null
  if (config.charCodeAt(0) !== 123) return unnamed('the member "tracerConfig" is not an object', allowed)
  for (const [name, inner] of membersOf(config)) {
    if (!allowed.includes(name)) return unnamed('this tracer is not allowed', allowed)
    const fault =
      (inner.charCodeAt(0) === 123 ? nestedFault(inner, bounds) : null) ??
      (name === 'muxTracer' ? muxFault(inner, bounds, levels - 1) : null)
    if (fault !== null) return fault
  }
  return null
}

/** The same bounds within a tracer's own configuration: some nodes read them there. */
function nestedFault(config: Raw, bounds: TracerBounds): TracerFault | null {
  const values = pickMembers(config, NESTED)
  const twice = values.indexOf(null)
  if (twice !== -1) return unnamed(`the member "${NESTED[twice]!}" ${VARIANT}`, bounds.allowed)
  const [timeout, reexec] = values
  return timeFault(timeout ?? undefined, bounds) ?? reexecFault(reexec ?? undefined)
}

const NESTED = ['timeout', 'reexec']

function timeFault(raw: Raw | undefined, { timeoutMs }: TracerBounds): TracerFault | null {
  if (raw === undefined || raw === 'null') return null
  const value = raw.charCodeAt(0) === 34 && raw.length <= MAX_NAME ? (decodeJson(raw) as string) : ''
  const ms = milliseconds(value)
  if (ms !== null && ms > 0 && ms <= timeoutMs) return null
  const most = `${timeoutMs / 1000}s`
  return { why: `timeout is a string such as "10s", above 0 and at most ${most}`, data: { timeout: most } }
}

function reexecFault(raw: Raw | undefined): TracerFault | null {
  if (raw === undefined || raw === 'null') return null
  if (/^\d{1,3}$/.test(raw) && Number(raw) <= MAX_REEXEC) return null
  return { why: `reexec is a whole number from 0 to ${MAX_REEXEC}`, data: { reexec: MAX_REEXEC } }
}

function tooLong(what: string): TracerFault {
  return { why: `${what} at most ${MAX_READ} bytes`, data: {} }
}

const VARIANT = 'is a duplicate or a variant of another name, or one of too many'

function unnamed(why: string, tracers: readonly string[]): TracerFault {
  return { why, data: { tracers } }
}

/** Durations as Go's time.ParseDuration reads them, which is what nodes written in Go make of a tracer's `timeout`. */

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  // Both of Unicode's micro signs.
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}

const TERMS = /(?:\d+(?:\.\d*)?|\.\d+)(?:[nu\u00b5\u03bcm]s|[smh])/gy
const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[nu\u00b5\u03bcm]s|[smh]))+$/

/** Milliseconds of `10s`, `1m30s`, `1.5h` or `0`; null for what Go does not read. */
export function milliseconds(text: string): number | null {
  const unsigned = text.replace(/^[+-]/, '')
  if (unsigned === '0') return 0
  if (!DURATION.test(text)) return null
  let sum = 0
  for (const [term] of unsigned.matchAll(TERMS)) {
    const unit = term.replace(/^[\d.]+/, '')
    sum += Number.parseFloat(term) * UNITS[unit]!
  }
  return text.startsWith('-') ? -sum : sum
}
