/** Patterns of method names: `prefix*`, and in paths of verbatim HTTP `{name}` for one whole segment. */
import { pathCovers } from './http-path.ts'

/** Whether a name as written in YAML (exact, or a pattern) covers a method. */
export function covers(written: string, method: string): boolean {
  if (written.includes('{')) return pathCovers(written, method)
  return written.endsWith('*') ? method.startsWith(written.slice(0, -1)) : written === method
}

/** Whether `match` is a pattern. */
export function isPattern(match: string): boolean {
  return match.endsWith('*') || match.includes('{')
}

/**
 * Sorts patterns by which one governs a method that several cover: the longest text before its first wildcard, then the
 * most text in all, then the one without a star.
 */
export function byPrecedence(a: string, b: string): number {
  return (
    literalStart(b) - literalStart(a) ||
    literalLength(b) - literalLength(a) ||
    Number(a.endsWith('*')) - Number(b.endsWith('*'))
  )
}

function literalStart(match: string): number {
  const at = match.search(/[{*]/)
  return at < 0 ? match.length : at
}

function literalLength(match: string): number {
  return match.replace(/\{[^{}]*\}|\*$/g, '').length
}
