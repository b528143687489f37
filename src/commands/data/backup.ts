/** `tollgate backup` and `tollgate restore`: a copy of all data of one moment, and a data directory made of it. */
import { resolve } from 'node:path'
import { takeBackup } from '../../stores/sqlite/backup/take.ts'
import type { Manifest } from '../../stores/sqlite/backup/manifest.ts'
import { refuseFilled } from '../../stores/sqlite/backup/folder.ts'
import { restoreBackup } from '../../stores/sqlite/backup/restore.ts'
import { masterKeyVariable } from '../../stores/sqlite/accounts/secrets/master-key.ts'
import { withAccounts } from '../accounts/accounts.ts'
import { fail, print, readArguments, UsageError } from '../command.ts'
import type { Command } from '../command.ts'
import { typed } from '../output/called-as.ts'
import { progress } from '../output/progress.ts'

const BACKUP = { 'without-key': 'boolean' } as const
const RESTORE = { to: 'string' } as const

export const backup: Command = {
  options: BACKUP,
  usage: `tollgate backup <dir> [--without-key] [--config DIR] [--json]

Copies accounts, usage and the master key to <dir>, which must not hold anything yet, while the gateway runs or not. All of
it is of one moment: every call that was answered by then, and none later. The copy is checked and summed up, gets a
manifest.json with checksums, and only then its name: an interrupted backup leaves <dir>.partial-… at most, which can be
removed, and should be: the master key may be in it. Beside a running gateway it works an eighth of the time, so that calls
are hardly slowed down: a gigabyte takes about half a minute.

  --without-key  leaves the master key out: keep it elsewhere, without it no key can be shown again`,

  run(args, io) {
    const { config, json, words, given } = readArguments(args, ['dir'], BACKUP)
    const dir = resolve(words[0]!)
    const withKey = given['without-key'] !== true
    const take = async (
      store: Parameters<Parameters<typeof withAccounts>[2]>[0],
      known: Parameters<Parameters<typeof withAccounts>[2]>[1],
    ): Promise<number> => {
      refuseFilled(dir)
      const { masterKey } = store
      const { dataDir } = known.gateway
      const isAlone = (await known.around()).onData === null
      const how = { withKey, isAlone, progress: progress(io, json) }
      const manifest = await takeBackup({ dataDir, dir, masterKey, ...how })
      const next = typed(io, ['restore', dir, '--to', 'DATA'])
      print(
        io,
        json,
        { dir, ...manifest },
        () => [
          `${dir} holds ${summary(manifest)}`,
          withKey ? 'the master key is in it: keep it as you keep the key' : 'the master key is not in it',
          `"${next}" makes a data directory of it`,
        ],
        `the backup ${dir} was made`,
      )
      return 0
    }
    return withAccounts({ config, json }, io, take, { reads: true })
  },
}

export const restore: Command = {
  options: RESTORE,
  usage: `tollgate restore <dir> --to DATA [--config DIR] [--json]

Makes the data directory DATA of a backup. Manifest, checksums, every page, the sums and the master key are checked first,
and nothing is written over: DATA must not hold anything yet. Where the environment gives the master key, it must open
the backup, and its file is left out. An interrupted restore leaves DATA.partial-… at most, which can be removed, and
should be: the master key may be in it.`,

  async run(args, io) {
    const { config, json, words, given } = readArguments(args, ['dir'], RESTORE)
    if (given['to'] === undefined)
      throw new UsageError('--to is missing; it takes the data directory to be made')
    const [dir, dataDir] = [words[0]!, resolve(String(given['to']))]
    try {
      const manifest = await restoreBackup({ dir, dataDir, env: io.env, progress: progress(io, json) })
      const serve = typed(io, ['serve'], config)
      const where = masterKeyVariable(io.env) ?? `${dataDir}/master.key`
      print(
        io,
        json,
        { dataDir, ...manifest },
        () => [
          `${dataDir} holds ${summary(manifest)}`,
          `the master key is that of ${where}`,
          `next: stop the gateway, set dataDir in gateway.yaml (or TOLLGATE_DATA) to ${dataDir}, have its user own the`,
          `directory, and start it: ${serve}`,
        ],
        `${dataDir} was made`,
      )
      return 0
    } catch (error) {
      return fail(io, json, `nothing was restored: ${(error as Error).message}`)
    }
  },
}

function summary({ at, sums: { accounts, endpoints, calls }, files }: Manifest): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
  return `the data of ${at}, ${size}: accounts ${accounts}, endpoints ${endpoints}, calls ${calls}`
}
