/** `prefix*` patterns of method names. */

/** Whether a name as written in YAML (exact, or `prefix*`) covers a method. */
export function covers(written: string, method: string): boolean {
  return written.endsWith('*') ? method.startsWith(written.slice(0, -1)) : written === method
}

/** Whether `match` is written with a star at its end. */
export function isPattern(match: string): boolean {
  return match.endsWith('*')
}
