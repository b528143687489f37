/** `tollgate check`: everything that is wrong with the YAML, or what was compiled. */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { accountsFile } from '../accounts/schema.ts'
import { openAccounts } from '../accounts/store.ts'
import { formatProblem } from '../config/problem.ts'
import type { Problem } from '../config/problem.ts'
import type { GatewayConfig } from '../config/types.ts'
import { listenAddress } from '../config/units.ts'
import { loadSnapshot } from '../load-snapshot.ts'
import type { LoadedSnapshot } from '../load-snapshot.ts'
import { inUseProblems, machineProblems } from '../preflight.ts'
import type { Held } from '../preflight.ts'
import { findRunning } from '../running.ts'
import { servingNow } from '../serving-file.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { print, readArguments } from './command.ts'
import type { Command, Io } from './command.ts'

interface Counts {
  readonly networks: number
  readonly routes: number
  readonly methods: number
  readonly plans: number
}

const options = { data: 'boolean' } as const

export const check: Command = {
  options,
  usage: `tollgate check [--data] [--config DIR] [--json]

Prints each problem as file:line:column path: what is wrong, and exits 1 when there is an error. Warnings alone exit 0;
one that is known is silenced by its kind, which stands at the end: acknowledge: [no-route:debug] in gateway.yaml.
Use it in CI before a configuration goes live.

  --data   also looks at what it meets here: plans and networks that accounts use, the data directory, free addresses.
           What it refuses, a start and a reload refuse too. A gateway that is running on it may hold them`,

  async run(args, io) {
    const { config, json, given } = readArguments(args, [], options)
    const loaded = await loadSnapshot(config, io.env)
    const met = given['data'] === true ? await dataProblems(config, loaded, io) : []
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
  dir: string,
  { config, places }: LoadedSnapshot,
  { env }: Io,
): Promise<readonly Problem[]> {
  if (config === null) return []
  const { gateway } = config
  const { dataDir } = gateway
  const machine = await machineProblems(gateway, await held(dir, gateway), places)
  if (machine.some(({ path }) => path === 'dataDir') || !existsSync(join(dataDir, accountsFile.name)))
    return machine
  const accounts = await openAccounts({ dataDir, env })
  try {
    return [...machine, ...inUseProblems(config, accounts.inUse, places)]
  } finally {
    accounts.close()
  }
}

/** The addresses and the data directory of the gateway that serves this directory now; null where none does. */
async function held(dir: string, gateway: GatewayConfig): Promise<Held | null> {
  const dataDir = (await findRunning(dir, gateway))?.dataDir ?? gateway.dataDir
  const serving = await servingNow(dataDir)
  if (serving === null) return null
  const { listen, admin, probes } = serving
  return {
    listen: listenAddress(listen)!,
    admin: listenAddress(admin)!,
    probes: probes === undefined ? null : listenAddress(probes),
    dataDir,
  }
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
  if (!ok) return many(of('error'), 'error')
  const found = [
    many(networks, 'network'),
    many(routes, 'route'),
    many(methods, 'method'),
    many(plans, 'plan'),
  ]
  const warnings = of('warning')
  return `ok${warnings === 0 ? '' : `, with ${many(warnings, 'warning')}`}: ${found.join(', ')}`
}

function many(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
