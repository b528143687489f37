/** `tollgate spool`: what a dead machine has left of usage goes to PostgreSQL. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fail, print, readArguments, UsageError } from '../command.ts'
import type { Command } from '../command.ts'
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
    const sent = await withFleet(config, io, async fleet => {
      const { sendLedger } = await import('../../stores/postgres/usage/send-ledger.ts')
      const { version, sharedVersion } = fleet.snapshot
      return sendLedger(dir, fleet.postgres, { version, sharedVersion })
    })
    const { rows, node, isForked } = sent
    if (isForked)
      io.err(
        'tollgate: warning: another process has reported as this node since: what is in this directory was counted as its',
      )
    print(io, json, { rows, node }, () => [`${rows} rows of ${node} are in PostgreSQL`])
    return 0
  },
}
