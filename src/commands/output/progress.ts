/** How far a long command has come. */
import type { Io } from '../command.ts'

/** Milliseconds before the first line, and between two. */
const EVERY = 1_000

/** Writes a line to stderr now and then, unless JSON was asked for; what is over sooner shows none. */
export function progress({ err }: Pick<Io, 'err'>, json: boolean): (line: string) => void {
  let last = performance.now()
  return line => {
    if (json || performance.now() - last < EVERY) return
    last = performance.now()
    err(`tollgate: ${line}`)
  }
}
