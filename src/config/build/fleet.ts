import type { NodeConfig, PostgresConfig, RedisConfig } from '../fleet.ts'
import { duration } from '../words/units.ts'
import type { RawGateway } from '../raw-config.ts'

/** This gateway among others. */
export function buildNode({ name }: NonNullable<RawGateway['node']>): NodeConfig {
  return { name: name ?? null }
}

/** Where accounts and usage are kept; null is on this machine. */
export function buildPostgres(written: RawGateway['postgres']): PostgresConfig | null {
  if (written === undefined) return null
  const { accountsMaxAge = '24h' } = written
  return {
    url: written.url,
    schema: written.schema ?? 'tollgate',
    pool: written.pool ?? 4,
    timeout: duration(written.timeout ?? '2s')!,
    spool: duration(written.spool ?? '2s')!,
    accountsMaxAge: accountsMaxAge === 'forever' ? null : duration(accountsMaxAge)!,
  }
}

/** Where limits are counted; null is on this machine. */
export function buildRedis(written: RawGateway['redis']): RedisConfig | null {
  if (written === undefined) return null
  return {
    url: typeof written.url === 'string' ? [written.url] : written.url,
    prefix: written.prefix ?? 'tg',
    timeout: duration(written.timeout ?? '50ms')!,
    sync: duration(written.sync ?? '100ms')!,
    away: written.away ?? 'part',
  }
}
