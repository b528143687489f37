/** Lines up rows under their headings, for a person. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string[] {
  const lines = [headings, ...rows].map(row => row.map(String))
  const widths = headings.map((_, column) => Math.max(...lines.map(line => line[column]?.length ?? 0)))
  const right = headings.map(
    (_, column) => rows.length > 0 && rows.every(row => typeof row[column] === 'number'),
  )
  return lines.map(line =>
    line
      .map((cell, column) => (right[column] ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  )
}

/** A moment in UTC, to the second. */
export function moment(unixSeconds: number): string {
  return new Date(unixSeconds * 1000).toISOString().replace('T', ' ').replace('.000Z', ' UTC')
}
