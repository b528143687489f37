/** `tollgate master-key rotate`: replaces the key that seals the others, while the gateway runs. */
import type { KeyRotation, Pass, Rotating } from '../../stores/sqlite/accounts/rotation.ts'
import {
  keyFile,
  masterKeyId,
  masterKeyVariable,
  newMasterKey,
  readOrMakeKeyFile,
  replaceMasterKey,
} from '../../stores/sqlite/accounts/secrets/master-key.ts'
import { isLocked } from '../../stores/sqlite/usage/lock.ts'
import { withAccounts } from '../accounts/accounts.ts'
import { fail, print, readArguments } from '../command.ts'
import type { Arguments, Command, Io } from '../command.ts'
import { group } from '../group.ts'
import type { Known } from '../known.ts'
import { typed } from '../output/called-as.ts'
import { progress } from '../output/progress.ts'

const OPTIONS = { to: 'string' } as const

const rotate: Command = {
  summary: 'seal all keys by another master key',
  options: OPTIONS,
  usage: `tollgate master-key rotate [--to FILE] [--config DIR] [--json]

Seals everything by a new master key while the gateway runs: endpoints' keys, old keys that still work, remembered results.
No call fails meanwhile, and API keys stay as they are. Run it again after it was interrupted: it goes on where it was.
Exits 0 once nothing is sealed by the old key any more.

Where the key is dataDir/master.key, the new one is made, put there and nothing else is to be done. Where the environment
gives it, there are three steps, and until the last one both keys open everything:

  1  tollgate master-key rotate --to FILE   seals everything by the key in FILE (32 bytes in base64), which is made where
                                            there is none; exits 1, as the old key is still needed
  2  put the new key where the old one is   the content of the file of TOLLGATE_MASTER_KEY_FILE; or TOLLGATE_MASTER_KEY,
                                            and restart the gateway with it
  3  tollgate master-key rotate             with the new key in its environment: ends it, and the old key opens nothing

Copies of the data that were made before open with the old key for good.`,

  run(args, io) {
    const { config, json, given } = readArguments(args, [], OPTIONS)
    const variable = masterKeyVariable(io.env)
    const file = typeof given['to'] === 'string' ? given['to'] : null
    if (variable === null && file !== null)
      return Promise.resolve(
        fail(
          io,
          json,
          '--to is for a key that the environment gives: here it is a file, and the command replaces it',
        ),
      )
    return withAccounts({ config, json }, io, async (store, known) => {
      const { rotation } = store
      const begun = await begin(rotation, variable === null, file)
      if (begun === 'no file')
        return fail(io, json, `the key is in ${variable}: name a file for the new one with --to FILE`)
      if (begun === 'nothing') {
        print(io, json, { masterKey: rotation.current, resealed: 0, finished: true }, () => [
          `nothing is to be done: everything is sealed by the key ${rotation.current}`,
        ])
        return 0
      }
      const { resealed, unopened } = await reseal(rotation, json, io)
      for (const value of unopened) io.err(`tollgate: warning: ${value}: opens with neither key`)
      const left = variable === null ? null : await whatIsLeft(begun, rotation, variable, known)
      const shown = { ...begun, resealed, finished: left === null }
      if (left !== null) {
        const again = typed(io, ['master-key', 'rotate'], config)
        print(io, json, shown, () => [`values sealed by the new key ${begun.to}: ${resealed}`])
        io.err(`tollgate: the old key ${begun.from} is still needed: ${left}, and run ${again}`)
        return 1
      }
      await rotation.finish(begun, key => {
        if (variable === null) replaceMasterKey(known.gateway.dataDir, key)
      })
      const where = variable === null ? `, which is in ${keyFile(known.gateway.dataDir)}` : ''
      print(
        io,
        json,
        shown,
        () => [
          `everything is sealed by the new key ${begun.to}${where}`,
          `the old key ${begun.from} opens nothing any more, but copies of the data that were made before`,
        ],
        'the master key was replaced',
      )
      return 0
    })
  },
}

export const masterKey = group('master-key', { rotate })

/** Begins, or goes on with what another run has begun. */
async function begin(
  rotation: KeyRotation,
  isInDataDir: boolean,
  file: string | null,
): Promise<Rotating | 'nothing' | 'no file'> {
  const { underWay } = rotation
  if (file === null && underWay !== null) return underWay
  if (isInDataDir) return rotation.begin(newMasterKey())
  if (file === null) return 'no file'
  const next = readOrMakeKeyFile(file)
  if (underWay === null && masterKeyId(next) === rotation.current) return 'nothing'
  return rotation.begin(next)
}

/** Seals all by the new key; how many values that were, and which open with neither. */
async function reseal(
  rotation: KeyRotation,
  json: Arguments['json'],
  io: Io,
): Promise<Pick<Pass, 'resealed' | 'unopened'>> {
  const show = progress(io, json)
  let last: Pass = { seen: 0, of: 0, resealed: 0, unopened: [] }
  for await (last of rotation.reseal()) show(`${last.seen} of ${last.of} values are sealed by the new key`)
  return last
}

/** What the operator has to do before the old key may go; null when a start finds the new one, here and at the gateway that runs. */
async function whatIsLeft(
  { to }: Rotating,
  { source }: KeyRotation,
  variable: string,
  known: Known,
): Promise<string | null> {
  if (source !== to) return `put the new one where ${variable} has the old one, restart the gateway with it`
  const { onData } = await known.around()
  if (onData === null)
    return isLocked(known.gateway.dataDir)
      ? 'a gateway runs on this data and does not answer at its admin address: restart it with the new one'
      : null
  return onData.masterKey === to
    ? null
    : `the gateway (process ${onData.pid}) was started with the old one: restart it with the new one`
}
