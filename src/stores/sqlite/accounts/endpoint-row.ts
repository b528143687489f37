import type { Endpoint, EndpointStatus } from '../../../ports/endpoints.ts'
import type { Labels } from '../../../ports/labels.ts'

/** A row of table `endpoint` that is not deleted. */
export interface EndpointRow {
  readonly id: string
  readonly account_id: string
  readonly network: string
  readonly name: string
  readonly status: EndpointStatus
  readonly created_at: number
  readonly management: number
  readonly allowed_origins: string | null
  readonly allowed_ips: string | null
  readonly per_second: number | null
  readonly daily_limit: number | null
  readonly limited_since: number
  readonly expires_at: number | null
  readonly used_at: number | null
  readonly labels: string | null
  readonly sealed_key: Uint8Array
}

/** What calls need nothing of. */
export type ForOwner = 'sealed_key' | 'used_at' | 'labels'

/** The columns of `EndpointRow`. */
export const ENDPOINT_COLUMNS =
  'id, account_id, network, name, status, created_at, management, allowed_origins, allowed_ips, per_second, daily_limit, limited_since, expires_at, used_at, labels, sealed_key'

/** The endpoint that a row holds, its key apart. */
export function toEndpoint(row: Omit<EndpointRow, ForOwner>): Endpoint {
  return {
    id: row.id,
    accountId: row.account_id,
    network: row.network,
    name: row.name,
    status: row.status,
    createdAt: row.created_at,
    management: row.management !== 0,
    allowedOrigins: fromColumn(row.allowed_origins),
    allowedIps: fromColumn(row.allowed_ips),
    perSecond: row.per_second,
    dailyLimit: row.daily_limit,
    limitedSince: row.limited_since,
    expiresAt: row.expires_at,
  }
}

/** A list as its column holds it: JSON, or NULL. */
export function toColumn(list: readonly string[] | null): string | null {
  return list === null ? null : JSON.stringify(list)
}

/** Labels as their column holds them: NULL where there never was one (stores/postgres/accounts/write.ts). */
export function labelsOf(column: string | null): Labels {
  return column === null ? {} : (JSON.parse(column) as Labels)
}

function fromColumn(column: string | null): readonly string[] | null {
  return column === null ? null : (JSON.parse(column) as string[])
}
