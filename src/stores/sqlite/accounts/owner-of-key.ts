import type { DatabaseSync } from '../driver.ts'
import { toEndpoint, type EndpointRow, type ForOwner } from './endpoint-row.ts'
import type { AccountStatus } from '../../../ports/accounts.ts'
import type { KeyOwner } from '../../../ports/keys.ts'

interface OwnerRow extends Omit<EndpointRow, ForOwner> {
  readonly account_name: string
  readonly plan: string
  readonly account_status: AccountStatus
  readonly account_created_at: number
  readonly until: number | null
}

const COLUMNS = `
  endpoint.id, account_id, network, endpoint.name, endpoint.status, endpoint.created_at, management,
  allowed_origins, allowed_ips, per_second, daily_limit, limited_since, expires_at, account.name AS account_name, plan,
  account.status AS account_status, account.created_at AS account_created_at`
// One statement, as this is what a call waits for whose key is not remembered: two cost a quarter more in a large file.
const OWNER = `
  SELECT ${COLUMNS}, NULL AS until FROM endpoint JOIN account ON account.id = account_id WHERE key_hash = ?`
/** Of a key that was rotated, and goes on for a while. */
const OLD = `
  SELECT ${COLUMNS}, until FROM old_key JOIN endpoint ON endpoint.id = endpoint_id JOIN account ON account.id = account_id
  WHERE old_key.key_hash = ? AND until > ?`

/** Finds the endpoint and the account behind the hash of a key, whatever their status. `now` in Unix seconds. */
export function ownersByKey(database: DatabaseSync, now: () => number): (keyHash: Buffer) => KeyOwner | null {
  const [current, old] = [database.prepare(OWNER), database.prepare(OLD)]
  return keyHash => {
    const row = (current.get(keyHash) ?? old.get(keyHash, now())) as OwnerRow | undefined
    const until = row === undefined ? null : earlier(row.until, row.expires_at)
    if (row === undefined || (until !== null && until <= now())) return null
    const { account_id: id, account_name: name, plan, account_status: status } = row
    const isOld = row.until !== null
    const endpoint = toEndpoint(row)
    return {
      account: { id, name, plan, status, createdAt: row.account_created_at },
      endpoint: isOld ? { ...endpoint, management: false } : endpoint,
      until,
      isOld,
    }
  }
}

/** The endpoint of the hash of a key that has expired, and when that was; null where it has not, or is nobody's. */
export function expiredKeys(
  database: DatabaseSync,
  now: () => number,
): (keyHash: Buffer) => { readonly id: string; readonly at: number } | null {
  const find = database.prepare(
    'SELECT id, expires_at AS at FROM endpoint WHERE key_hash = ? AND expires_at <= ?',
  )
  return keyHash => (find.get(keyHash, now()) as { id: string; at: number } | undefined) ?? null
}

function earlier(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}
