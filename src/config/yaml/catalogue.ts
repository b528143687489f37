/**
 * The values of the methods.yaml that ships with the program. Parsing it takes a third of the CPU of a start (bench/start.ts), so the built program has in place
 * of this file what it comes to: build/catalogue.ts.
 */

/** A text, and what it says. */
export interface KnownText {
  /** In hexadecimal. */
  readonly sha256: string
  /** Its values as JSON. */
  readonly json: string
}

/** Null where nothing is known beforehand. */
export const CATALOGUE: KnownText | null = null
