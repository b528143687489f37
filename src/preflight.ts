/** What a valid configuration meets: accounts that use it, the data directory, and addresses. `check --data`, a start and a reload ask the same. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { unacknowledged } from './config/problem.ts'
import type { Problem } from './config/problem.ts'
import type { Config, GatewayConfig, ListenAddress } from './config/types.ts'
import type { Places } from './load-snapshot.ts'

/** What accounts use. */
export interface InUse {
  plans(): readonly string[]
  /** Slugs of the networks that endpoints are on. */
  networks(): readonly string[]
  endpointsOn(network: string): number
}

/** A plan that accounts have may not vanish; endpoints of a network that did are told. */
export function inUseProblems(
  { plans, networks, gateway }: Pick<Config, 'plans' | 'networks' | 'gateway'>,
  inUse: InUse,
  places: Places,
): readonly Problem[] {
  const gone = inUse.plans().filter(plan => !plans.some(({ name }) => name === plan))
  const known = new Set(networks.map(({ slug }) => slug))
  const lost = inUse.networks().filter(slug => !known.has(slug))
  const problems = lost.map((slug): Problem => {
    const count = inUse.endpointsOn(slug)
    const many = count === 1 ? '1 endpoint is' : `${count} endpoints are`
    return {
      ...{ file: 'networks.yaml', ...places.networks, path: 'networks', severity: 'warning' },
      ...{
        kind: 'endpoints-without-network',
        message: `${many} on the network "${slug}", which is not here`,
      },
      hint: `tollgate endpoint move --from ${slug} --to <network> takes ${count === 1 ? 'it' : 'them'} to another one`,
    }
  })
  return [...missingPlans(gone, places), ...unacknowledged(problems, gateway.acknowledge)]
}

function missingPlans(gone: readonly string[], places: Places): Problem[] {
  if (gone.length === 0) return []
  const names = gone.map(plan => `"${plan}"`).join(', ')
  return [
    {
      ...{ file: 'plans.yaml', ...places.plans, path: 'plans', severity: 'error' },
      message: `accounts use ${gone.length === 1 ? 'a plan that is' : 'plans that are'} not here: ${names}`,
      hint: 'move them to another plan first (tollgate account set-plan)',
    },
  ]
}

/** What a running gateway holds on this machine. */
export type Held = Pick<GatewayConfig, 'listen' | 'admin' | 'probes' | 'dataDir'>

/** What would keep a start on this machine from coming up; `held` is what a running gateway holds. */
export async function machineProblems(
  next: GatewayConfig,
  held: Held | null,
  places: Places,
): Promise<readonly Problem[]> {
  const problem = (path: keyof Held, message: string): Problem => ({
    ...{ file: 'gateway.yaml', ...places[path], path, severity: 'error', message },
  })
  const problems: Problem[] = []
  if (next.dataDir !== held?.dataDir) {
    const fault = dirFault(next.dataDir)
    if (fault !== null) problems.push(problem('dataDir', `${next.dataDir} ${fault}`))
  }
  // Its own ports are free once it has gone.
  const ports = held === null ? [] : [held.listen, held.admin, held.probes].map(address => address?.port)
  for (const name of ['listen', 'admin', 'probes'] as const) {
    const address = next[name]
    if (address === null || ports.includes(address.port)) continue
    const fault = await addressFault(address)
    if (fault !== null)
      problems.push(problem(name, `cannot listen on ${address.host}:${address.port}: ${fault}`))
  }
  return problems
}

/** Why a data directory cannot be used or made; null when it can. */
function dirFault(dir: string): string | null {
  let existing = dir
  while (!existsSync(existing) && dirname(existing) !== existing) existing = dirname(existing)
  if (!statSync(existing).isDirectory())
    return existing === dir ? 'is no directory' : `cannot be made: ${existing} is no directory`
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
    return null
  } catch {
    return existing === dir ? 'cannot be written' : `cannot be made: ${existing} cannot be written`
  }
}

/** Why nobody can listen there; null when somebody can. */
function addressFault({ host, port }: ListenAddress): Promise<string | null> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'EADDRINUSE' ? 'the port is in use' : error.message)
    })
    server.listen({ host, port, exclusive: true }, () => {
      server.close(() => {
        resolve(null)
      })
    })
  })
}
