/** Compiles a valid configuration into the snapshot: pure, so equal configurations give equal snapshots. */
import { createHash } from 'node:crypto'
import { dashboardHostOf } from '../config/base-url.ts'
import type { Config, ErrorRow, NetworkConfig, RouteConfig } from '../config/types.ts'
import { deepFreeze, record } from '../config/record.ts'
import { joinRules } from './join.ts'
import { byPrecedence, isPattern } from '../net/patterns.ts'
import { absentRules, disabledRules, familyRules, rulesOf } from './rules.ts'
import type { FamilyRules } from './rules.ts'
import type { Network, Route, Snapshot } from './types.ts'
import { hostOf, networkUrl, socketUrl } from './urls.ts'

/** The snapshot of a configuration, frozen. */
export function compile(config: Config): Snapshot {
  const steps = compileInSteps(config)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The same with a pause after each network, for those who share their thread with calls. */
export function* compileInSteps(config: Config, version = versionOf(config)): Generator<void, Snapshot> {
  const routes = byNetwork(config)
  const rules = familyRules(config)
  const networks = record<Network>([])
  // Of all but gateway.yaml, which differs between the machines of a fleet. Piece by piece, as the rest.
  const shared = createHash('sha256')
  for (const network of config.networks) {
    const own = routes.get(network.slug) ?? []
    shared.update(JSON.stringify([network, own]))
    networks[network.slug] = deepFreeze(compileNetwork(network, own, config, rules))
    yield
  }
  const { baseUrl, errors, notification, families, plans } = config
  shared.update(JSON.stringify([baseUrl, errors, notification, families, plans]))
  return deepFreeze({
    version,
    sharedVersion: shared.digest('hex').slice(0, 12),
    networks,
    hosts: record(hostsOf(config)),
    baseHosts: baseHostsOf(config),
    plans: record(config.plans.map(plan => [plan.name, plan])),
    notification: config.notification,
    gateway: config.gateway,
    logo: config.logo,
  })
}

function byNetwork({ routes, errors }: Config): Map<string, Route[]> {
  const groups = new Map<string, Route[]>()
  for (const route of routes) {
    const group = groups.get(route.network) ?? []
    if (group.length === 0) groups.set(route.network, group)
    group.push(withErrors(route, errors))
  }
  return groups
}

/** Routes without rows of their own share one list, and with it what is compiled from it. */
function withErrors(route: RouteConfig, shared: readonly ErrorRow[]): Route {
  if (shared.length === 0) return route
  return { ...route, errors: route.errors.length === 0 ? shared : [...route.errors, ...shared] }
}

/** Short hash of a configuration's content. */
export function versionOf(config: Config): string {
  // In an order of its own: the loader's thread sends the parts in another one than they are built in.
  const { baseUrl, networks, routes, errors, notification, families, plans, gateway } = config
  const content = [baseUrl, networks, routes, errors, notification, families, plans, gateway]
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 12)
}

function compileNetwork(
  config: NetworkConfig,
  own: readonly Route[],
  all: Config,
  shared: FamilyRules,
): Network {
  const routes = own
    .filter(route => route.enabled)
    .sort((a, b) => a.priority - b.priority || (a.id < b.id ? -1 : 1))
  const rules = rulesOf(config, all, shared)
  // A private route that is switched off for a while must not send to everybody what it keeps from them.
  const privateSends = own.some(route => route.private)
  const rows = joinRules(rules, routes, privateSends)
  const httpsUrl = networkUrl(all.baseUrl, config)
  return {
    ...config,
    httpsUrl,
    wssUrl: socketUrl(httpsUrl),
    wss: routes.some(route => route.ws !== null),
    methods: record(rows.filter(row => !isPattern(row.rule.match)).map(row => [row.rule.match, row])),
    patterns: rows
      .filter(row => isPattern(row.rule.match))
      .sort((a, b) => byPrecedence(a.rule.match, b.rule.match)),
    off: disabledRules(config, all, rules),
    absent: record(absentRules(config, all)),
    cache:
      all.gateway.cache === null || !rows.some(({ rule }) => rule.cache.length > 0) ? null : config.cache,
    maxCost: Math.max(1, ...rows.map(row => row.rule.cost)),
    privateSends,
    routes,
    disabled: own.filter(route => !route.enabled).map(route => route.id),
  }
}

function baseHostsOf({ baseUrl, gateway }: Config): string[] {
  const names = [gateway.dashboardHost, dashboardHostOf(baseUrl), 'localhost']
  return [...new Set(names.filter(name => name !== null))]
}

function* hostsOf(config: Config): Generator<readonly [string, string]> {
  for (const network of config.networks) {
    const host = hostOf(config.baseUrl, network)
    if (host !== null) yield [host, network.slug]
  }
}
