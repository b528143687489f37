/** What a valid configuration meets here: accounts that use it, the data directory, and addresses. `check --data` and a reload ask; a start finds out. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { accountsFile } from '../stores/sqlite/accounts/schema.ts'
import { readMasterKey, readSharedMasterKey } from '../stores/sqlite/accounts/secrets/master-key.ts'
import { isCopy, refuseLostAccounts } from '../stores/sqlite/accounts/present.ts'
import { openAccountsOf } from '../stores/open-accounts.ts'
import type { Problem } from '../config/problem.ts'
import type { Config, GatewayConfig } from '../config/types.ts'
import { listenAddress } from '../config/words/units.ts'
import { inUseProblems } from './in-use-problems.ts'
import type { InUse } from './in-use-problems.ts'
import type { Places } from '../snapshot/load-snapshot.ts'
import { whyServed } from '../http/admin/find-gateway.ts'
import { realDir } from '../http/admin/running.ts'
import type { Running } from '../http/admin/running.ts'
import { whyNoDataDir } from '../stores/sqlite/data-dir.ts'
import { sharedPorts } from './shared-ports.ts'
import { tryAddresses } from './try-addresses.ts'
import { refuseUnusableJournal } from '../stores/sqlite/usage/sound.ts'
import { isLocked } from '../stores/sqlite/usage/lock.ts'
import { whyNoSocket } from '../net/keeper-socket.ts'

/** What is asked for, and by whom. */
export interface Preflight {
  readonly config: Config
  readonly places: Places
  readonly env: Readonly<Record<string, string | undefined>>
  /** The gateway that serves this configuration: what it holds is free once it has gone. Null where none runs. */
  readonly running: Running | null
}

/** What would keep a start from coming up here, and what it would warn of; `open` are the accounts of the running gateway, where this is it. */
export async function preflight(asked: Preflight, open: InUse | null = null): Promise<readonly Problem[]> {
  const { config, places, running } = asked
  const { dataDir } = config.gateway
  const isOwn = running?.dataDir === realDir(dataDir)
  const why = isOwn ? null : await whyNotUsable(config.gateway)
  const addresses = await addressProblems(config.gateway, running, places)
  if (why !== null) return [problem('dataDir', why, places), ...addresses]
  const used =
    isOwn && open !== null ? inUseProblems(config, open, places, 'error') : await accountProblems(asked)
  return [...used, ...addresses]
}

/** A problem of a setting of gateway.yaml. */
export function problem(
  path: 'dataDir' | 'listen' | 'admin' | 'probes',
  message: string,
  places: Places,
): Problem {
  return { file: 'gateway.yaml', ...places[path], path, severity: 'error', message }
}

/** Why another process could not serve on a data directory; null when it could. */
async function whyNotUsable(settings: GatewayConfig): Promise<string | null> {
  const { dataDir, workers } = settings
  const tooLong = workers.count > 1 ? whyNoSocket(dataDir) : null
  const why = whyNoDataDir(dataDir) ?? tooLong ?? (await whyServed(settings))
  return why ?? (isLocked(dataDir) ? `another tollgate serve is using ${dataDir}` : null)
}

/** What the accounts that are there already say; opening them fails as it would at a start. */
async function accountProblems({ config, places, env, running }: Preflight): Promise<readonly Problem[]> {
  const { dataDir } = config.gateway
  try {
    refuseLostAccounts(dataDir)
    refuseUnusableJournal(dataDir)
    const { postgres } = config.gateway
    const isThere = existsSync(join(dataDir, accountsFile.name))
    if (!isThere || (postgres !== null && !isCopy(dataDir))) {
      // PostgreSQL is asked elsewhere whether the key opens what it has (stores/postgres/usable.ts).
      if (postgres === null) readMasterKey(dataDir, env)
      else readSharedMasterKey(dataDir, env)
      return []
    }
    const opened = await openAccountsOf({ dataDir, env, postgres, role: 'worker', warn: () => undefined })
    try {
      return inUseProblems(config, opened.store.inUse, places, running === null ? 'warning' : 'error')
    } finally {
      await opened.close()
    }
  } catch (error) {
    return [problem('dataDir', error instanceof Error ? error.message : String(error), places)]
  }
}

/** Addresses that nobody could listen on. A port of the running gateway is free then, if on another host perhaps. */
async function addressProblems(
  next: GatewayConfig,
  running: Running | null,
  places: Places,
): Promise<readonly Problem[]> {
  const { listen, admin, probes } = running?.bound ?? {}
  const held = [listen, admin, probes].map(text => (text === undefined ? null : listenAddress(text)?.port))
  const names = (['listen', 'admin', 'probes'] as const).filter(name => next[name] !== null)
  const faults = await tryAddresses(
    names.map(name => ({ ...next[name]!, willBeFree: held.includes(next[name]!.port) })),
  )
  const shared = await sharedPorts(names.map(name => ({ name, address: next[name]! })))
  return names.flatMap((name, index) => {
    const fault = shared.get(name) ?? faults[index] ?? null
    return fault === null ? [] : [problem(name, fault, places)]
  })
}
