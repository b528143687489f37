/** `tollgate spool`: what a dead machine has left of usage goes to PostgreSQL. */
import { counted, requestUnits } from '../../config/words/units.ts'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fail, print, readArguments, UsageError } from '../command.ts'
import type { Command } from '../command.ts'
import { lockDataDir } from '../../stores/sqlite/usage/lock.ts'
import { FORKED } from '../migrate.ts'
import { progress } from '../output/progress.ts'
import { withFleet } from './fleet.ts'

const OPTIONS = { dir: 'string' } as const

export const spool: Command = {
  options: OPTIONS,
  usage: `tollgate spool --dir DATA_DIR [--config DIR] [--json]

Sends what a data directory holds of usage that PostgreSQL does not have: that of a machine which is gone, from its disk or
a copy of it. Twice changes nothing. No gateway may run on the directory.`,

  async run(args, io) {
    const { config, json, given } = readArguments(args, [], OPTIONS)
    const { dir } = given
    if (typeof dir !== 'string') throw new UsageError('--dir is missing; it takes the data directory')
    if (!existsSync(join(dir, 'journal.db'))) return fail(io, json, `there is no usage in ${dir}`)
    const sent = await withFleet(config, io, async ({ postgres, snapshot }) => {
      const { sendLedger } = await import('../../stores/postgres/usage/send-ledger.ts')
      const { version, sharedVersion } = snapshot
      const lock = lockDataDir(dir)
      try {
        const show = progress(io, json)
        return await sendLedger(dir, postgres, {
          version,
          sharedVersion,
          progress: (done, of) => {
            show(`${done} of ${of} rows`)
          },
          late: ({ requests, from, to }) => {
            const [first, last] = [from, to].map(hour => new Date(hour * 1000).toISOString())
            io.err(
              `tollgate: ${requestUnits(requests)} of hours from ${first} to ${last} not added: those hours are final in PostgreSQL`,
            )
          },
        })
      } finally {
        lock.release()
      }
    })
    const { rows, node, isForked } = sent
    if (isForked) io.err(FORKED)
    print(io, json, { rows, node }, () => [`PostgreSQL has ${counted(rows, 'row')} of ${node}`])
    return 0
  },
}
