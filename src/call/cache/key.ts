/** What an answer is found by: the bytes that ask for it. */
import type { Raw } from '../../jsonrpc/raw.ts'

/**
 * The key of a call by its compact params. Nothing but white space between values is left out, which no parser reads: whatever else two requests
 * differ in, their keys differ. Neither slugs nor names of rules and methods hold a line break, so no part runs into the next.
 */
export function keyOf(network: string, method: string, compacted: Raw): string {
  return `${network}\n${method}\n${compacted}`
}
