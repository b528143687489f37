/** The log: JSON lines on stdout. No key, URL, body or client-chosen name goes in. */
import { pino } from 'pino'
import type { Logger } from 'pino'
import type { LogOutput } from './log-output.ts'

export type { Logger }

/** Opens the log of `serve`. */
export function openLog(level: string, output: Pick<LogOutput, 'write'>): Logger {
  return pino({ level, base: null, timestamp: () => `,"time":"${new Date().toISOString()}"` }, output)
}
