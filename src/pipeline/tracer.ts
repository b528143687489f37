/** Which tracers a call asks for: any name but the built-in ones is JavaScript that the operator's node would run. */
import { memberOf, membersOf } from '../jsonrpc/elements.ts'
import { decodeJson } from '../jsonrpc/raw.ts'
import type { Raw } from '../jsonrpc/raw.ts'

/** Bytes of a tracer's name; what is longer is no name but JavaScript. */
const MAX_NAME = 256
/** How deep muxTracer may hold itself, which serves nobody; each level is read once more. */
const MUX_LEVELS = 2

/** What is wrong with the tracer options among a call's params; null when nothing is. */
export function tracerFault(elements: readonly Raw[], allowed: readonly string[]): string | null {
  for (const element of elements)
    if (element.charCodeAt(0) === 123) {
      const fault = optionFault(element, allowed)
      if (fault !== null) return fault
    }
  return null
}

function optionFault(options: Raw, allowed: readonly string[]): string | null {
  const tracer = memberOf(options, 'tracer')
  if (tracer === undefined || tracer === 'null') return null
  if (tracer === null)
    return 'the member "tracer" is there twice or in a variant of its name, or among too many'
  const name =
    tracer.charCodeAt(0) === 34 && tracer.length <= MAX_NAME ? (decodeJson(tracer) as string) : null
  // The empty name is geth's default struct logger.
  if (name === null || (name !== '' && !allowed.includes(name))) return 'this tracer is not allowed'
  return name === 'muxTracer' ? muxFault(options, allowed, MUX_LEVELS) : null
}

/** muxTracer's configuration is keyed by tracer, and geth would run any of its keys. */
function muxFault(options: Raw, allowed: readonly string[], levels: number): string | null {
  if (levels === 0) return 'muxTracer holds itself too often'
  const config = memberOf(options, 'tracerConfig')
  if (config === undefined || config === 'null') return null
  if (config?.charCodeAt(0) !== 123)
    return 'the member "tracerConfig" is no object, or there in a variant of its name'
  for (const [name, inner] of membersOf(config)) {
    if (!allowed.includes(name)) return 'this tracer is not allowed'
    const fault = name === 'muxTracer' ? muxFault(`{"tracerConfig":${inner}}`, allowed, levels - 1) : null
    if (fault !== null) return fault
  }
  return null
}
