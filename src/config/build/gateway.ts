import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { buildAlerts } from './alerts.ts'
import { buildNode, buildPostgres, buildRedis } from './fleet.ts'
import { dashboardHostOf } from '../base-url.ts'
import type { WorkersConfig } from '../fleet.ts'
import type { LogoFile } from '../dashboard/types.ts'
import type { AccessLogConfig } from '../observing/types.ts'
import type { GatewayConfig, ManagementKeys } from '../types.ts'
import { normalizeOrigin } from '../../net/origin.ts'
import { buildTracing } from '../observing/build.ts'
import { duration, listenAddress, percentage, size } from '../words/units.ts'
import type { RawGateway } from '../raw-config.ts'

/** Where the gateway listens and keeps its data by default, the data relative to the configuration. */
export const DEFAULTS = {
  listen: '127.0.0.1:8080',
  admin: '127.0.0.1:9464',
  dataDir: './data',
  managementKeys: 'all' as ManagementKeys,
}

/** The process's settings with their defaults. */
export function buildGateway(
  written: RawGateway,
  baseUrl: string,
  dir: string,
  logo: LogoFile | null,
): GatewayConfig {
  const { tls } = written
  return {
    listen: listenAddress(written.listen ?? DEFAULTS.listen)!,
    admin: listenAddress(written.admin ?? DEFAULTS.admin)!,
    probes: written.probes === undefined ? null : listenAddress(written.probes),
    watch: written.watch ?? true,
    adminHosts: (written.adminHosts ?? []).map(host => host.toLowerCase()),
    dataDir: resolve(dir, written.dataDir ?? DEFAULTS.dataDir),
    workers: buildWorkers(written.workers ?? 1),
    dashboardHost: written.dashboardHost?.toLowerCase() ?? dashboardHostOf(baseUrl),
    dashboard: buildDashboard(written.dashboard, logo),
    trustedProxies: written.trustedProxies ?? [],
    tls: tls === undefined ? null : { cert: resolve(dir, tls.cert), key: resolve(dir, tls.key) },
    cache: buildCache(written.cache),
    limits: buildLimits(written.limits ?? {}),
    timeouts: buildTimeouts(written.timeouts ?? {}),
    management: {
      keys: written.management?.keys ?? DEFAULTS.managementKeys,
      origins: (written.management?.origins ?? []).map(origin => normalizeOrigin(origin) ?? origin),
    },
    acknowledge: written.acknowledge ?? [],
    audit: { keep: duration(written.audit?.keep ?? '400d')! },
    log: { level: written.log?.level ?? 'info', access: buildAccessLog(written.log?.access, dir) },
    tracing: buildTracing(written.tracing),
    cors: { origins: written.cors?.origins ?? ['*'] },
    alerts: buildAlerts(written.alerts ?? {}),
    node: buildNode(written.node ?? {}),
    postgres: buildPostgres(written.postgres),
    redis: buildRedis(written.redis),
  }
}

function buildAccessLog(
  written: NonNullable<RawGateway['log']>['access'],
  dir: string,
): AccessLogConfig | null {
  if (written === undefined) return null
  const { to, address = 'none', filter } = written
  return {
    to: to === 'stdout' ? to : resolve(dir, to),
    address,
    filter:
      filter === undefined
        ? null
        : {
            status: (filter.status ?? []).map(String),
            slower: filter.slower === undefined ? null : duration(filter.slower),
            sample: filter.sample === undefined ? 0 : percentage(filter.sample)!,
          },
  }
}

function buildWorkers(written: NonNullable<RawGateway['workers']>): WorkersConfig {
  const { count, balance = 'accept' } = typeof written === 'object' ? written : { count: written }
  return { count: count === 'auto' ? availableParallelism() : count, balance }
}

function buildDashboard(written: RawGateway['dashboard'], logo: LogoFile | null): GatewayConfig['dashboard'] {
  if (written === undefined) return null
  const { name = null, accent, links = {} } = written
  return { name, logo, accent: accent === undefined ? null : longColour(accent), links }
}

/** `#abc` is `#aabbcc`. */
function longColour(written: string): string {
  const digits = written.slice(1).toLowerCase()
  return `#${digits.length === 3 ? digits.replaceAll(/./g, '$&$&') : digits}`
}

function buildCache(written: RawGateway['cache']): GatewayConfig['cache'] {
  if (written === undefined) return null
  const { memory = '64MiB', entry = '256KiB', header = true } = written
  return { memory: size(memory)!, entry: size(entry)!, header }
}

function buildLimits(written: NonNullable<RawGateway['limits']>): GatewayConfig['limits'] {
  return {
    body: size(written.body ?? '5MiB')!,
    batchReply: size(written.batchReply ?? '64MiB')!,
    wsReply: size(written.wsReply ?? '16MiB')!,
    connections: Number(written.connections ?? 10_000),
    connectionsPerAddress: Number(written.connectionsPerAddress ?? 1_000),
    inFlight: Number(written.inFlight ?? 10_000),
    memory: size(written.memory ?? '512MiB')!,
    socketCalls: Number(written.socketCalls ?? 16),
    depth: Number(written.depth ?? 64),
    response: written.response === undefined ? null : size(written.response),
  }
}

function buildTimeouts(written: NonNullable<RawGateway['timeouts']>): GatewayConfig['timeouts'] {
  const request = duration(written.request ?? '30s')!
  return {
    headers: written.headers === undefined ? Math.min(10_000, request) : duration(written.headers)!,
    request,
    keepAlive: duration(written.keepAlive ?? '75s')!,
    connect: duration(written.connect ?? '2s')!,
    drain: duration(written.drain ?? '65s')!,
    drainIdle: duration(written.drainIdle ?? '5s')!,
  }
}
