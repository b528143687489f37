/** The log: JSON lines on stdout. No key, URL, body or client-chosen name goes in. */
import { destination, pino } from 'pino'
import type { Logger } from 'pino'

/** Bytes kept for a reader of stdout that has stalled; more is dropped. */
const MAX_BUFFERED = 1024 * 1024

export type { Logger }

/** Opens the log of `serve`. */
export function openLog(level: string): Logger {
  const out = destination({ dest: 1, sync: false, minLength: 0, maxLength: MAX_BUFFERED })
  return pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, out)
}
