import type { ErrorRow } from '../types.ts'
import type { RawErrorRow } from '../raw-config.ts'

/** The rows of one `errors` list in their order, what they leave out as null. */
export function buildErrors(rows: readonly RawErrorRow[] = []): ErrorRow[] {
  return rows.map(row => ({
    codes: row.code === undefined ? null : [row.code].flat(),
    text: row.text ?? null,
    methods: row.methods ?? null,
    family: row.family ?? null,
    class: row.class,
  }))
}
