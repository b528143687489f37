/** Durations as Go's time.ParseDuration reads them, which is what nodes written in Go make of a tracer's `timeout`. */

const UNITS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  // Both of Unicode's micro signs.
  '\u00b5s': 1e-3,
  '\u03bcs': 1e-3,
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
}

const TERMS = /(?:\d+(?:\.\d*)?|\.\d+)(?:[nu\u00b5\u03bcm]s|[smh])/gy
const DURATION = /^[+-]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[nu\u00b5\u03bcm]s|[smh]))+$/

/** Milliseconds of `10s`, `1m30s`, `1.5h` or `0`; null for what Go does not read. */
export function milliseconds(text: string): number | null {
  const unsigned = text.replace(/^[+-]/, '')
  if (unsigned === '0') return 0
  if (!DURATION.test(text)) return null
  let sum = 0
  for (const [term] of unsigned.matchAll(TERMS)) {
    const unit = term.replace(/^[\d.]+/, '')
    sum += Number.parseFloat(term) * UNITS[unit]!
  }
  return text.startsWith('-') ? -sum : sum
}
