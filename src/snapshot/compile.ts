/** Compiles a valid configuration into the snapshot: pure, so equal configurations give equal snapshots. */
import { createHash } from 'node:crypto'
import type { Config, NetworkConfig } from '../config/types.ts'
import { deepFreeze, record } from '../config/record.ts'
import { joinRule } from './join.ts'
import { isPattern } from './patterns.ts'
import { rulesOf } from './rules.ts'
import type { MethodRow, Network, Snapshot } from './types.ts'
import { hostOf, networkUrl, socketUrl } from './urls.ts'

/** The snapshot of a configuration, frozen. */
export function compile(config: Config): Snapshot {
  const networks = record(config.networks.map(network => [network.slug, compileNetwork(network, config)]))
  const content = {
    networks,
    hosts: record(hostsOf(config)),
    plans: record(config.plans.map(plan => [plan.name, plan])),
    notification: config.notification,
    gateway: config.gateway,
  }
  return deepFreeze({ version: versionOf(content), ...content })
}

function compileNetwork(config: NetworkConfig, all: Config): Network {
  const own = all.routes.filter(route => route.network === config.slug)
  const routes = own
    .filter(route => route.enabled)
    .sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1))
  const rows = rulesOf(config, all).map(rule => joinRule(rule, routes))
  const httpsUrl = networkUrl(all.baseUrl, config)
  return {
    ...config,
    httpsUrl,
    wssUrl: socketUrl(httpsUrl),
    wss: routes.some(route => route.ws !== null),
    methods: record(rows.filter(row => !isPattern(row.rule.match)).map(row => [row.rule.match, row])),
    patterns: rows.filter(row => isPattern(row.rule.match)).sort(byLongest),
    dearest: Math.max(1, ...rows.map(row => row.rule.cost)),
    routes,
    disabled: own.filter(route => !route.enabled).map(route => route.id),
  }
}

function byLongest(a: MethodRow, b: MethodRow): number {
  return b.rule.match.length - a.rule.match.length
}

function* hostsOf(config: Config): Generator<readonly [string, string]> {
  for (const network of config.networks) {
    const host = hostOf(config.baseUrl, network)
    if (host !== null) yield [host, network.slug]
  }
}

function versionOf(content: unknown): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 12)
}
