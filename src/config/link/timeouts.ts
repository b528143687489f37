import type { FileName } from '../files.ts'
import type { Finding } from '../finding.ts'
import type { Path } from '../yaml/path.ts'
import { duration } from '../words/units.ts'

/** A longer timer fires at once (Node.js: 2^31 - 1 ms). */
const LONGEST_MS = 2 ** 31 - 1

/** Whether a timer can wait that long. */
export function checkTimeout(file: FileName, path: Path, written: string | undefined): Finding[] {
  if (written === undefined || (duration(written) ?? 0) <= LONGEST_MS) return []
  return [{ file, path, at: 'value', message: `must be at most 24d, not ${written}` }]
}
