/** How a process that reads the configuration and keeps the stores begins: everything that can keep it from serving is found out here. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Config } from '../config/types.ts'
import { ConfigError } from '../config/config-error.ts'
import type { Problem } from '../config/problem.ts'
import type { Certificate } from '../http/certificate.ts'
import { whoServes } from '../http/admin/find-gateway.ts'
import type { Logger } from '../observe/log.ts'
import type { LogOutput } from '../observe/log-output.ts'
import { Metrics } from '../observe/metrics.ts'
import { inUseProblems } from '../reload/in-use-problems.ts'
import { loadSnapshot } from '../snapshot/load-snapshot.ts'
import type { LoadedSnapshot } from '../snapshot/load-snapshot.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { takingBack } from '../stores/sqlite/accounts/take-back.ts'
import { StateFile } from '../stores/sqlite/state-file.ts'
import { isLocked } from '../stores/sqlite/usage/lock.ts'
import type { Closing } from './closing.ts'
import { logJournal } from './log.ts'
import { openCertificate } from './open-certificate.ts'
import { openStores } from './stores.ts'
import type { Stores } from './stores.ts'

/** Milliseconds that a draining gateway is waited for beyond its drain, and between two looks. */
const BEYOND_DRAIN = 10_000
const LOOK = 100

/** What `serve` is told. */
export interface AppOptions {
  readonly dir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly makeLog: (level: string) => Logger
  /** Standard output, to which the log goes too. */
  readonly output: Pick<LogOutput, 'write'>
}

/** What it has then. */
export interface Begun {
  readonly config: Config
  readonly snapshot: Snapshot
  readonly problems: readonly Problem[]
  readonly stores: Stores
  readonly state: StateFile
  readonly certificate: Certificate | null
  readonly log: Logger
  readonly metrics: Metrics
}

/** A configuration without an error. */
export type Valid = LoadedSnapshot & { readonly config: Config; readonly snapshot: Snapshot }

/** Reads and compiles the configuration; rejects with ConfigError. */
export async function loadValid({ dir, env }: Pick<AppOptions, 'dir' | 'env'>): Promise<Valid> {
  const { config, snapshot, ...loaded } = await loadSnapshot(dir, env)
  if (config === null || snapshot === null) throw new ConfigError(loaded.problems)
  return { ...loaded, config, snapshot }
}

/**
 * Rejects with one sentence where another gateway answers that runs on the same data. One that drains is waited for: its primary was killed, or it is
 * being stopped.
 */
export async function refuseServed(settings: Snapshot['gateway'], log: () => Logger): Promise<void> {
  const end = performance.now() + settings.timeouts.drain + BEYOND_DRAIN
  let isWaiting = false
  for (;;) {
    const served = await whoServes(settings)
    // Its lock is the last that it gives back.
    if (served === null && !(isWaiting && isLocked(settings.dataDir))) return
    if (served !== null && !served.isLeaving) throw new Error(served.why)
    if (performance.now() > end)
      throw new Error(`another tollgate serve is using ${settings.dataDir}, and does not end`)
    if (!isWaiting)
      log().info(
        { dataDir: settings.dataDir },
        'waiting until the gateway before this one has finished its calls',
      )
    isWaiting = true
    await pause(LOOK)
  }
}

/** Opens the stores; rejects with ConfigError, or with one sentence for the operator. `gateway` is its name where a keeper begins. */
export async function begin(
  { env, makeLog }: AppOptions,
  { config, snapshot, problems: found, places }: Valid,
  closing: Closing,
  undoing: Closing,
  gateway: string | null = null,
): Promise<Begun> {
  const settings = snapshot.gateway
  const log = makeLog(settings.log.level)
  const metrics = new Metrics()
  undoing.push(takingBack(settings.dataDir))
  const events = logJournal(metrics, log)
  const stores = await openStores(settings, env, { log, events }, closing)
  const problems = [...found, ...inUseProblems(config, stores.accounts.inUse, places, 'warning')]
  if (problems.some(({ severity }) => severity === 'error')) throw new ConfigError(problems)
  const state = new StateFile(settings.dataDir, gateway, error => {
    log.warn({ err: error }, 'state.json cannot be written: a process that follows knows nothing of this one')
  })
  const certificate = await openCertificate(settings.tls)
  if (certificate !== null)
    metrics.gauge(
      'tollgate_tls_certificate_expiry_timestamp_seconds',
      'When the certificate of the public listener expires, in Unix time',
      [],
      () => [[[], certificate.expiresAt]],
    )
  return { config, snapshot, problems, stores, state, certificate, log, metrics }
}
