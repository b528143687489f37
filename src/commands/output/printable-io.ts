/** The terminal of a command is reached by printable text alone: names, errors of nodes and lines of logs may hold anything. */
import { escapeText } from '../../config/words/printable.ts'
import type { Io } from '../command.ts'

/** The same outside, which gets control characters as escapes. */
export function printableIo(io: Io): Io {
  return {
    ...io,
    out: (text, done, once) => {
      io.out(escapeText(text), done === undefined ? undefined : escapeText(done), once)
    },
    err: text => {
      io.err(escapeText(text))
    },
  }
}
