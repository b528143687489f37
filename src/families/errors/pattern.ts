/** The texts of rows, compiled: runs of plain characters that follow each other, so that matching never backtracks. */

/** A compiled text. */
export interface Pattern {
  /** The runs between the stars, in lower case. */
  readonly runs: readonly string[]
  /** Whether the first run is what the message begins with. */
  readonly anchored: boolean
}

/** Where one run of a pattern stands in a message: from its first character to behind its last. */
export type Span = readonly [from: number, to: number]

/** Compiles `block * not found`: anchored at the beginning, `*` is any run of characters, the end is open. */
export function compilePattern(text: string): Pattern {
  const lower = text.toLowerCase()
  return { runs: lower.split('*').filter(run => run !== ''), anchored: !lower.startsWith('*') }
}

/** Where the runs of a pattern stand in a message in lower case, each as early as possible; null when some do not. */
export function matchPattern({ runs, anchored }: Pattern, message: string): readonly Span[] | null {
  if (anchored && !message.startsWith(runs[0] ?? '')) return null
  const spans: Span[] = []
  let at = 0
  for (const run of runs) {
    const from = message.indexOf(run, at)
    if (from < 0) return null
    at = from + run.length
    spans.push([from, at])
  }
  return spans
}
