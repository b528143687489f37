import { duration, percentage } from '../words/units.ts'
import type { RawTracing, TracingConfig } from './types.ts'

/** The path that OTLP gives traces (OTLP 1.x, "OTLP/HTTP Request"). */
const TRACES = '/v1/traces'

/** With its defaults; null where nothing is traced. */
export function buildTracing(written: RawTracing | undefined): TracingConfig | null {
  if (written === undefined) return null
  const { endpoint, headers = {}, sample = '1%', keep = {}, parent = 'none' } = written
  const { errors = false } = keep
  const slow = keep.slow === undefined ? null : duration(keep.slow)
  return {
    endpoint: withPath(endpoint),
    headers,
    sample: percentage(sample)!,
    keep: errors || slow !== null ? { errors, slow } : null,
    parent,
  }
}

/** A URL without a path is that of a collector. */
function withPath(endpoint: string): string {
  const url = new URL(endpoint)
  if (url.pathname === '/') url.pathname = TRACES
  return url.href
}
