/** A process that reads all of journal.db and says whether it is sound. Its argument is the path. */
import { DatabaseSync } from '@photostructure/sqlite'
import { explainFailure } from '../sqlite/error.ts'
import { checkFile } from '../sqlite/file.ts'
import type { Verdict } from './late-check.ts'

/** Milliseconds that it waits for a file that is being recovered. */
const PATIENCE = 5_000

const file = process.argv[2] ?? ''
// Whoever asked has ended: nobody hears the answer.
process.once('disconnect', () => process.exit())
process.send?.(verdict(), () => process.exit())

function verdict(): Verdict {
  try {
    const database = new DatabaseSync(file, { readOnly: true, timeout: PATIENCE })
    checkFile(database, file)
    // Closed by the end of the process alone: the last one that closes a file locks it, and a gateway may be starting meanwhile.
    return null
  } catch (error) {
    const explained = explainFailure(file, error)
    return explained instanceof Error ? explained.message : String(explained)
  }
}
