/** The data directory that a command works on: it is told, and never made by the way. */
import { whyNoAccounts } from '../stores/sqlite/accounts/present.ts'
import { takingBack } from '../stores/sqlite/accounts/take-back.ts'
import { findRunning, realDir } from '../http/admin/running.ts'
import type { Running, Settings } from '../http/admin/running.ts'
import type { Arguments, Io } from './command.ts'

/** What a command says and does about its data directory. */
export interface DataDirOptions {
  /** Whether a new one may be made (`--init`). */
  readonly init?: boolean
}

/**
 * Says on stderr which data directory is used, unless JSON was asked for, and which one the running gateway uses where that is another.
 * Throws one sentence when there are no accounts in it and none are to be made there.
 */
export async function useDataDir(
  { config, json }: Pick<Arguments, 'config' | 'json'>,
  { gateway }: { readonly gateway: Settings },
  io: Io,
  { init = false }: DataDirOptions = {},
): Promise<void> {
  const { dataDir } = gateway
  const why = whyNoAccounts(dataDir)
  const running = await findRunning(config, gateway)
  const elsewhere = running === null || running.dataDir === realDir(dataDir) ? '' : otherDir(running)
  if (why !== null && elsewhere !== '') throw new Error(`there are no accounts in ${dataDir}: ${elsewhere}`)
  if (why !== null && !init) throw new Error(why)
  if (!json) io.err(`tollgate: data directory ${dataDir}${why === null ? '' : ' (new)'}`)
  if (elsewhere !== '') io.err(`tollgate: warning: this is not the running gateway's data: ${elsewhere}`)
  // A command that is refused, for whatever reason, leaves no directory without an account.
  if (why !== null) process.once('exit', takingBack(dataDir))
}

function otherDir({ pid, dataDir }: Running): string {
  return `the gateway that serves this configuration (process ${pid}) uses ${dataDir}; run the command with its environment`
}
