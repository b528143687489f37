/** What the admin listener answers (design, "Admin listener and metrics"). */
import { answerExplain } from './answer-explain.ts'
import { answerCalls, answerTrace } from './call-records.ts'
import { answerPurge } from './answer-purge.ts'
import type { Purge } from './answer-purge.ts'
import type { CallRecords } from './call-records.ts'
import type { Gateway } from '../../call/gateway.ts'
import type { Metrics } from '../../observe/metrics.ts'
import { inTimeSlices } from '../../reload/time-slices.ts'
import type { Reloader } from '../../reload/reloader.ts'
import type { Running } from '../../http/admin/running.ts'
import { onDiskOf } from '../../http/admin/on-disk.ts'
import { servedOf } from '../../http/admin/served.ts'
import type { AdminReply, AdminRoutes } from '../../http/admin/listener.ts'
import type { PublicListener } from '../../http/public-listener.ts'
import { FileLost } from '../../stores/sqlite/place.ts'
import { networkState } from '../../routes/network-state.ts'
import { wholeMetrics } from '../../observe/whole-metrics.ts'
import { wholeState } from '../workers/whole-state.ts'
import type { Placed } from '../workers/whole-state.ts'
import { readTexts } from '../../config/read.ts'
import { version } from '../../config/version.ts'
import { registerDatabases, registerClients, registerRoutes } from './gauges.ts'

/** What the routes tell about. */
export interface AdminParts {
  readonly gateway: Gateway
  readonly metrics: Metrics
  /** What this process holds for clients; null where only workers serve them. */
  readonly clients: Pick<PublicListener, 'sockets' | 'streams' | 'memory'> | null
  /** Answers `POST /restart`, of the primary as well or only of the others. */
  readonly restart: (primary: boolean) => AdminReply
  /** The workers; null where this process serves calls itself. */
  readonly workers: Workers | null
  readonly state: { readonly draining: boolean }
  /** Why usage cannot be recorded now, and why not before a restart. */
  readonly usage: { readonly failure: Error | null; readonly refused: Error | null }
  /** Why calls should go to other machines of the fleet; null where they need not. */
  readonly fleet?: {
    unready(): string | null
    /** Reports all usage to PostgreSQL; false where that does not work, or there is none. */
    report(): Promise<boolean>
  }
  /** Why changes of accounts would be lost, or are refused; and which master key a process begins with that is started now. */
  readonly accounts: {
    lost(): Error | null
    readonly refused: Error | null
    /** How old what is known is, in milliseconds. */
    age(): number
    readonly rotation: { readonly source: string | null }
  }
  readonly reloader: Reloader
  readonly purge: Purge
  readonly calls: CallRecords
  /** This process, as it is known now. */
  readonly process: () => Running
}

/** The workers, as the admin listener asks about them. */
export interface Workers {
  readonly count: number
  /** Places of those that a restart has still to replace; null while there is none. */
  restarting(): readonly number[] | null
  states(): Promise<readonly Placed[]>
  /** Places of those that answered the scrape under way. */
  up(): readonly number[]
  /** The metrics of all there are and were, and of this process, which are put together last. */
  metrics(own: () => Promise<Buffer>): Promise<readonly string[]>
  /** What one of them would do with a call; null where there is none. */
  explain(body: unknown): Promise<AdminReply | null>
}

/** The paths of the admin listener. */
export function adminRoutes(parts: AdminParts): AdminRoutes {
  const { gateway, state, reloader, workers } = parts
  registerGauges(parts)
  return {
    'GET /livez': () => ({ status: 200, text: 'ok\n', type: 'text/plain' }),
    'GET /readyz': async () => {
      const why = unready(parts) ?? (await unreadyWorkers(workers))
      return { status: why === null ? 200 : 503, text: `${why ?? 'ok'}\n`, type: 'text/plain' }
    },
    'GET /process': () => ({
      status: 200,
      json: { ...parts.process(), ...lostFiles(parts), ...keySource(parts) },
    }),
    'GET /served': () => ({ status: 200, json: servedOf(gateway.snapshot) }),
    'GET /metrics': async () => ({
      status: 200,
      text: await metricsText(parts),
      type: parts.metrics.registry.contentType,
    }),
    'GET /status': async () => ({ status: 200, text: await status(parts), type: 'application/json' }),
    'POST /reload': async () => {
      if (state.draining) return { status: 503, json: { error: 'the gateway is draining' } }
      const result = await reloader.reload('request')
      return { status: result.ok ? 200 : 422, json: result }
    },
    'GET /on-disk': async () => {
      const { texts } = await readTexts(parts.process().configDir)
      return { status: 200, json: onDiskOf(await reloader.onDisk(), Object.values(texts), process.env) }
    },
    'POST /restart': body => {
      if (state.draining) return { status: 503, json: { error: 'the gateway is draining' } }
      return answerRestart(body, parts.restart)
    },
    'POST /spool': async () => ({ status: 200, json: { sent: (await parts.fleet?.report()) ?? false } }),
    'POST /calls': body => answerCalls(body, parts.calls),
    'POST /trace': body => answerTrace(body, parts.calls, () => state.draining),
    'POST /cache/purge': body => answerPurge(body, gateway.snapshot, parts.purge),
    'POST /explain': async body => (await workers?.explain(body)) ?? answerExplain(body, gateway),
  }
}

/** Why a balancer should send its calls elsewhere: every one would be refused, or keys that are made now are not known here. */
function unready({ process: self, usage, accounts, gateway, fleet }: AdminParts): string | null {
  // A keeper that another one follows leaves without the workers.
  if (self().draining === true) return 'draining'
  if (usage.failure !== null) return `journal_unavailable: ${usage.failure.message}`
  const most = gateway.snapshot.gateway.postgres?.accountsMaxAge ?? Infinity
  if (accounts.age() > most) return 'store_unavailable: PostgreSQL has not been reached for too long'
  const failure = accounts.lost() ?? accounts.refused
  return failure === null ? (fleet?.unready() ?? null) : `accounts_unavailable: ${failure.message}`
}

/** The same of the workers: one that records is enough, as the others refuse within a moment. */
async function unreadyWorkers(workers: Workers | null): Promise<string | null> {
  if (workers === null) return null
  const states = await workers.states()
  if (states.length === 0) return 'no worker is ready'
  const failures = states.flatMap(({ told: { failure } }) => failure ?? [])
  return failures.length < states.length ? null : `journal_unavailable: ${failures[0] ?? ''}`
}

/** The metrics of all processes. */
async function metricsText({ metrics, workers }: AdminParts): Promise<Buffer | string> {
  if (workers === null) return metrics.text()
  return inTimeSlices(wholeMetrics(await workers.metrics(() => metrics.text())))
}

/** What happened to files of the data directory, for commands that would work on others in their place, or beside damaged ones. */
function lostFiles({ usage, accounts }: AdminParts): Pick<Running, 'lost' | 'damaged' | 'damagedJournal'> {
  const lost = [accounts.lost(), usage.refused].find(error => error instanceof FileLost)
  const { refused } = accounts
  const journal = usage.refused instanceof FileLost ? null : usage.refused
  return {
    ...(lost === undefined ? {} : { lost: lost.fate }),
    ...(refused === null ? {} : { damaged: refused.message }),
    ...(journal === null ? {} : { damagedJournal: journal.message }),
  }
}

/** For the command that replaces the master key: what the environment or the file of this gateway says now. */
function keySource({ accounts: { rotation } }: AdminParts): Pick<Running, 'masterKey'> {
  const { source } = rotation
  return source === null ? {} : { masterKey: source }
}

/** JSON text, put together with turns for the calls in between: there may be thousands of routes. */
async function status({ gateway, reloader, workers }: AdminParts): Promise<string> {
  const { version, networks } = gateway.snapshot
  const placed = workers === null ? [] : await workers.states()
  const told = await inTimeSlices(
    (function* () {
      const texts: string[] = []
      for (const network of Object.values(networks)) {
        texts.push(JSON.stringify(wholeState(networkState(network, gateway.live), placed)))
        yield
      }
      return texts
    })(),
  )
  const start = JSON.stringify({
    version,
    reload: reloader.state,
    ...(workers === null
      ? {}
      : { workers: workersText(workers.count, placed), restarting: workers.restarting() }),
  }).slice(0, -1)
  return `${start},"networks":[${told.join(',')}]}\n`
}

/** Every worker's place, with null where none answers: it has ended, is starting, or hangs. */
function workersText(count: number, placed: readonly Placed[]): readonly unknown[] {
  return Array.from({ length: count }, (_, i) => {
    const told = placed.find(({ slot }) => slot === i + 1)?.told
    return told === undefined ? null : { slot: i + 1, pid: told.pid, version: told.version }
  })
}

function registerWorkers(workers: Workers, metrics: Metrics): void {
  metrics.gauge('tollgate_workers', 'Processes that are to serve calls', [], () => [[[], workers.count]])
  metrics.gauge('tollgate_worker_up', 'Whether the process at a place serves calls', ['slot'], () => {
    const { count } = workers
    const up = workers.up()
    return Array.from({ length: count }, (_, i) => [[String(i + 1)], up.includes(i + 1) ? 1 : 0] as const)
  })
}

function registerGauges(parts: AdminParts): void {
  const { gateway, metrics, reloader, clients, workers } = parts
  registerRoutes(gateway, metrics)
  if (clients !== null) registerClients(gateway, metrics, clients)
  if (workers !== null) registerWorkers(workers, metrics)
  metrics.gauge('tollgate_build_info', 'The version of this program', ['version'], () => [[[version], 1]])
  registerDatabases(gateway.snapshot.gateway.dataDir, metrics)
  if (gateway.snapshot.gateway.postgres !== null)
    metrics.gauge(
      'tollgate_accounts_age_seconds',
      'Time since the accounts were last compared with those in PostgreSQL',
      [],
      () => [[[], parts.accounts.age() / 1000]],
    )
  const isShared = gateway.snapshot.gateway.postgres !== null
  const labels = ['version', ...(isShared ? ['sharedVersion'] : [])]
  metrics.gauge('tollgate_config_info', 'The configuration served with', labels, () => {
    const { version, sharedVersion } = gateway.snapshot
    return [[isShared ? [version, sharedVersion] : [version], 1]]
  })
  metrics.gauge('tollgate_config_last_reload_successful', 'Whether the last reload was taken', [], () => [
    [[], reloader.state.ok ? 1 : 0],
  ])
  metrics.gauge(
    'tollgate_config_last_reload_success_timestamp_seconds',
    'When the configuration was last loaded and found valid, changed or not: the start, or a successful reload',
    [],
    () => [[[], reloader.succeededAt]],
  )
}

/** Reads the body; anything but what it may hold is refused, as an ordinary restart is not what was meant. */
export function answerRestart(body: unknown, restart: (primary: boolean) => AdminReply): AdminReply {
  if (body !== null && (typeof body !== 'object' || Array.isArray(body)))
    return refused('the body must be an object')
  const { primary = false, ...others } = (body ?? {}) as Readonly<Record<string, unknown>>
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) return refused(`unknown member "${unknown}"; expected "primary"`)
  if (typeof primary !== 'boolean') return refused('"primary" must be true or false')
  return restart(primary)
}

function refused(error: string): AdminReply {
  return { status: 400, json: { error } }
}
