/** `tollgate check`: everything that is wrong with the YAML, or what was compiled. */
import { counted } from '../config/words/units.ts'
import { resolve } from 'node:path'
import { formatProblem } from '../config/problem.ts'
import type { Problem } from '../config/problem.ts'
import type { GatewayConfig, ListenAddress } from '../config/types.ts'
import { findGateway, gatewayAt, whyDamaged, whyLost } from '../http/admin/find-gateway.ts'
import type { Sought } from '../http/admin/find-gateway.ts'
import { loadSnapshot } from '../snapshot/load-snapshot.ts'
import type { LoadedSnapshot, Places } from '../snapshot/load-snapshot.ts'
import { preflight, problem } from '../reload/preflight.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { isCopy } from '../stores/sqlite/accounts/present.ts'
import { adminOption } from './admin-option.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Command, Io } from './command.ts'

interface Counts {
  readonly networks: number
  readonly routes: number
  readonly methods: number
  readonly plans: number
}

const options = { data: 'boolean', admin: 'string' } as const

export const check: Command = {
  options,
  usage: `tollgate check [--data [--admin HOST:PORT]] [--config DIR] [--json]

Prints each problem as file:line:column path: what is wrong, and exits 1 when there is an error. Warnings alone exit 0;
one that is known is silenced by its kind, which stands at the end: acknowledge: [no-route:debug] in gateway.yaml.
Use it in CI before a configuration goes live.

  --data   also looks at what it meets here: plans and networks that accounts use, the data directory, free addresses,
           PostgreSQL and what its user may do there. What it refuses, a start and a reload refuse too, except that they
           take PostgreSQL for away where there is a copy of the accounts. A Redis that cannot be used is a warning. A
           gateway that serves this configuration may hold the addresses
  --admin  where the admin listener of that gateway is, after an edit of both its admin address and its data directory`,

  async run(args, io) {
    const { config, json, given } = readArguments(args, [], options)
    const admin = adminOption(given['admin'])
    if (admin !== null && given['data'] !== true) throw new UsageError('--admin goes with --data')
    const loaded = await loadSnapshot(config, io.env)
    const sought = given['data'] === true ? await seek(config, loaded, admin) : null
    if (admin !== null && sought !== null && 'none' in sought) return fail(io, json, sought.none)
    const met = await dataProblems(loaded, sought, io)
    const problems = [...loaded.problems, ...met]
    const ok = !problems.some(({ severity }) => severity === 'error')
    const dir = resolve(config)
    const counts = countsOf(loaded.snapshot)
    print(io, json, { ok, dir, problems, counts }, () => [
      ...problems.map(formatProblem),
      `${summary(ok, problems, counts)} in ${dir}`,
    ])
    return ok ? 0 : 1
  },
}

/** What accounts and this machine say against a valid configuration. */
async function dataProblems(
  { config, places }: LoadedSnapshot,
  sought: Sought | null,
  { env }: Io,
): Promise<readonly Problem[]> {
  if (config === null || sought === null) return []
  const shared = [
    ...(await postgresProblems(config.gateway, places, env)),
    ...(await redisProblems(config.gateway, places)),
  ]
  if ('gateway' in sought) {
    const lost = whyLost(sought.gateway)
    if (lost !== null) return [problem('dataDir', lost, places), ...shared]
    const damaged = whyDamaged(sought.gateway).map(why => ({
      ...problem('dataDir', why, places),
      ...({ severity: 'warning', hint: RESTART } as const),
    }))
    return [...shared, ...damaged, ...(await preflight({ config, places, env, running: sought.gateway }))]
  }
  const problems = await preflight({ config, places, env, running: null })
  // A copy of the accounts in PostgreSQL opens with the same key.
  const own = problems.filter(({ message }) => shared.every(problem => problem.message !== message))
  return [...shared, ...own.map(problem => (isAddress(problem) ? { ...problem, hint: MEANT } : problem))]
}

/** Says why a gateway could not use PostgreSQL. A gateway that has a copy of the accounts runs through an outage, so a reload is not refused for one. */
async function postgresProblems(
  { postgres, dataDir }: GatewayConfig,
  places: Places,
  env: Io['env'],
): Promise<readonly Problem[]> {
  if (postgres === null) return []
  const { whyUnusable } = await import('../stores/postgres/usable.ts')
  const hasCopy = holdsCopy(dataDir)
  const why = await whyUnusable(postgres, dataDir, hasCopy, env)
  if (why === null) return []
  const path = 'postgres.url'
  const found: Problem = {
    file: 'gateway.yaml',
    ...places.postgres,
    path,
    severity: 'error',
    message: why.message,
  }
  return [why.isAway && hasCopy ? { ...found, severity: 'warning' } : found]
}

/** A warning: a gateway starts without Redis, and limits each machine by itself until it is back. */
async function redisProblems({ redis }: GatewayConfig, places: Places): Promise<readonly Problem[]> {
  if (redis === null) return []
  const { whyUnusable } = await import('../stores/redis/redis.ts')
  const why = await whyUnusable(redis)
  if (why === null) return []
  const message = `Redis cannot be used now: ${why}`
  return [{ file: 'gateway.yaml', ...places.redis, path: 'redis.url', severity: 'warning', message }]
}

/** What is wrong with the data directory is said of it elsewhere. */
function holdsCopy(dataDir: string): boolean {
  try {
    return isCopy(dataDir)
  } catch {
    return false
  }
}

/** A start takes such a file at first, as it reads only a part of it. */
const RESTART = 'restart it with an intact file'

/** Nobody tells from outside whose a port is. */
const MEANT = 'if the gateway of this configuration has it, name its admin address: --admin HOST:PORT'

function isAddress({ path }: Problem): boolean {
  return path === 'listen' || path === 'admin' || path === 'probes'
}

/** The gateway that serves this directory now, at the address that is given or where the configuration leads. */
async function seek(
  dir: string,
  { config }: LoadedSnapshot,
  given: ListenAddress | null,
): Promise<Sought | null> {
  if (given !== null) return gatewayAt(given, dir)
  return config === null ? null : findGateway(dir, config.gateway)
}

function countsOf(snapshot: Snapshot | null): Counts {
  const networks = snapshot === null ? [] : Object.values(snapshot.networks)
  const sum = (count: (network: (typeof networks)[number]) => number): number =>
    networks.reduce((total, network) => total + count(network), 0)
  return {
    networks: networks.length,
    routes: sum(network => network.routes.length + network.disabled.length),
    methods: sum(network => Object.keys(network.methods).length + network.patterns.length),
    plans: snapshot === null ? 0 : Object.keys(snapshot.plans).length,
  }
}

function summary(
  ok: boolean,
  problems: readonly Problem[],
  { networks, routes, methods, plans }: Counts,
): string {
  const of = (wanted: Problem['severity']): number =>
    problems.filter(({ severity }) => severity === wanted).length
  if (!ok) return counted(of('error'), 'error')
  const found = [
    counted(networks, 'network'),
    counted(routes, 'route'),
    counted(methods, 'method'),
    counted(plans, 'plan'),
  ]
  const warnings = of('warning')
  return `ok${warnings === 0 ? '' : `, with ${counted(warnings, 'warning')}`}: ${found.join(', ')}`
}
