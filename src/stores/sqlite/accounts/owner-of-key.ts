import type { DatabaseSync } from '../driver.ts'
import { toEndpoint, type EndpointRow } from './endpoint-row.ts'
import type { AccountStatus } from '../../../ports/accounts.ts'
import type { KeyOwner } from '../../../ports/keys.ts'

interface OwnerRow extends Omit<EndpointRow, 'sealed_key'> {
  readonly account_name: string
  readonly plan: string
  readonly account_status: AccountStatus
  readonly account_created_at: number
}

// One statement, as this is what a call waits for whose key is not remembered: two cost a quarter more in a large file.
const OWNER = `
  SELECT endpoint.id, account_id, network, endpoint.name, endpoint.status, endpoint.created_at, management,
    allowed_origins, allowed_ips, per_second, account.name AS account_name, plan, account.status AS account_status,
    account.created_at AS account_created_at
  FROM endpoint JOIN account ON account.id = account_id WHERE key_hash = ?`

/** Finds the endpoint and the account behind the hash of a key, whatever their status. */
export function ownersByKey(database: DatabaseSync): (keyHash: Buffer) => KeyOwner | null {
  const statement = database.prepare(OWNER)
  return keyHash => {
    const row = statement.get(keyHash) as OwnerRow | undefined
    if (row === undefined) return null
    const { account_id: id, account_name: name, plan, account_status: status } = row
    return {
      account: { id, name, plan, status, createdAt: row.account_created_at },
      endpoint: toEndpoint(row),
    }
  }
}
