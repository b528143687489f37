/** The log: JSON lines on stdout. No key, URL, body or client-chosen name goes in. */
import { pino } from 'pino'
import type { Logger } from 'pino'
import { escapeText } from '../config/words/printable.ts'
import { Away } from '../ports/store-unavailable.ts'
import type { LogOutput } from './log-output.ts'

export type { Logger }

/** Opens the log of `serve`. */
export function openLog(level: string, output: Pick<LogOutput, 'write'>): Logger {
  // Nodes and webhooks choose words of errors, and a log is read on a terminal.
  const printable = {
    write: (line: string): void => {
      output.write(escapeText(line))
    },
  }
  const timestamp = (): string => `,"time":"${new Date().toISOString()}"`
  return pino({ level, base: null, timestamp, formatters: { level: label => ({ level: label }) } }, printable)
}

/** What a line says of a failure: of what is away, which comes back by itself, no stack. */
export function reasonOf(error: unknown): { readonly why: string } | { readonly err: unknown } {
  return error instanceof Away ? { why: error.message } : { err: error }
}

/** Logs a failure: a warning where something is away, an error otherwise. */
export function logFailure(log: Logger, error: unknown, message: string): void {
  log[error instanceof Away ? 'warn' : 'error'](reasonOf(error), message)
}
