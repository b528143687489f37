/** The data directory that a command works on: it is told, never made by the way, and changed only where the running gateway means it too. */
import { resolve } from 'node:path'
import type { PostgresConfig } from '../config/fleet.ts'
import { quoted } from '../config/words/shell-word.ts'
import { whyNoAccounts } from '../stores/sqlite/accounts/present.ts'
import { takingBack } from '../stores/sqlite/accounts/take-back.ts'
import { serves, servesAnother } from '../http/admin/find-gateway.ts'
import type { Around } from '../http/admin/find-gateway.ts'
import { realDir } from '../http/admin/running.ts'
import type { Running, Settings } from '../http/admin/running.ts'
import type { Arguments, Io } from './command.ts'

/** What a command says and does about its data directory. */
export interface DataDirOptions {
  /** Whether a new one may be made (`--init`). */
  readonly init?: boolean
  /** Whether it works on accounts: where they are in PostgreSQL this machine may have none yet. */
  readonly isOfAccounts?: boolean
  /** Whether it only looks; what changes something does so for the gateway that runs, or not at all. */
  readonly reads?: boolean
  /** The command that makes one, as it can be typed. */
  readonly making?: string
}

type Where = Pick<Arguments, 'config' | 'json'>

/** The data directory, and who runs there. */
export interface Grounds {
  readonly gateway: Settings & { readonly postgres: PostgresConfig | null }
  /** Whether the environment may be why a gateway uses another data directory. */
  readonly variesByEnv: boolean
  /** The gateways that run on this data directory and on this configuration. */
  around(): Promise<Around>
}

/**
 * Says on stderr which data directory is used, unless JSON was asked for, and which gateway makes it doubtful. Throws one sentence when
 * there are no accounts in it and none are to be made there, and when it is to be changed past the gateway that runs.
 */
export async function useDataDir(
  { config, json }: Where,
  known: Grounds,
  io: Io,
  { init = false, reads = false, making }: DataDirOptions = {},
): Promise<void> {
  const { dataDir } = known.gateway
  const why = whyNoAccounts(dataDir)
  const { onData, onConfig, silent } = await known.around()
  // Several gateways may serve one configuration, each on data of its own.
  const isElsewhere = onData === null && onConfig !== null
  const elsewhere = isElsewhere ? otherDir(onConfig, known) : ''
  const isMeant = isNamed(config, dataDir, io)
  if (why !== null && isElsewhere && !(init && isMeant)) throw new Error(`${why}: ${elsewhere}`)
  if (why !== null && !init)
    throw new Error(`${why}${making === undefined ? '' : `: "${making}" makes them there`}${unset(io)}`)
  const another = await servedForAnother(config, known)
  if (!reads && another !== null) throw new Error(`${another}; name that one with --config`)
  if (!reads && isElsewhere && !isMeant) {
    const onPurpose = known.variesByEnv
      ? `, restart it for it to use ${dataDir}, or set TOLLGATE_DATA=${quoted(dataDir)} to change that one on purpose`
      : ''
    throw new Error(`${dataDir} is not the running gateway's data: ${elsewhere}${onPurpose}`)
  }
  if (!json) io.err(`tollgate: data directory ${dataDir}${why === null ? '' : ' (new)'}`)
  if (another !== null) io.err(`tollgate: warning: ${another}`)
  if (silent !== null) io.err(`tollgate: warning: ${silent}`)
  if (isElsewhere) io.err(`tollgate: warning: this is not the running gateway's data: ${elsewhere}`)
  // A command that is refused, for whatever reason, leaves no directory without an account.
  if (why !== null) process.once('exit', takingBack(dataDir))
}

/** That the gateway on the data directory serves another configuration; null when it does not, or none runs. */
export async function servedForAnother(config: string, known: Grounds): Promise<string | null> {
  const { onData } = await known.around()
  return onData === null || serves(onData, config) ? null : servesAnother(onData, config)
}

/** Which data directory the gateway of this configuration uses instead, and what to do. */
function otherDir({ pid, dataDir }: Running, { variesByEnv, gateway }: Grounds): string {
  const uses = `the gateway that serves this configuration (process ${pid}) uses ${dataDir}`
  return variesByEnv
    ? `${uses}; run the command with its environment`
    : `${uses}, and dataDir in gateway.yaml is ${gateway.dataDir}; restart it or undo the edit`
}

/** Whether this very directory was named beside the YAML too. */
function isNamed(config: string, dataDir: string, { env }: Io): boolean {
  const { TOLLGATE_DATA: named = '' } = env
  return named !== '' && realDir(resolve(config, named)) === realDir(dataDir)
}

/** The variables that say where the data of a service is, where this shell lacks them. */
export function unset({ env }: Io): string {
  const missing = ['TOLLGATE_DATA', 'TOLLGATE_ADMIN'].filter(name => (env[name] ?? '') === '')
  return missing.length === 0
    ? ''
    : `; if the gateway has ${missing.join(' or ')} in its environment, run the command with the same`
}
