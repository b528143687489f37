import type { KeyObject } from 'node:crypto'
import type { DatabaseSync } from '../driver.ts'
import { ENDPOINT_COLUMNS, toColumn, toEndpoint, type EndpointRow } from './endpoint-row.ts'
import { hashKey } from './secrets/hash.ts'
import { open, seal } from './secrets/seal.ts'
import type { Endpoint, EndpointLabel, EndpointWithKey } from '../../../ports/endpoints.ts'

/** The statements on table `endpoint`. Writes belong in a transaction; the holder keeps the database referenced. */
export class EndpointTable {
  readonly #masterKey: KeyObject
  readonly #sql

  constructor(database: DatabaseSync, masterKey: KeyObject) {
    this.#masterKey = masterKey
    const select = (where: string) =>
      database.prepare(`SELECT ${ENDPOINT_COLUMNS} FROM endpoint WHERE ${where}`)
    this.#sql = {
      byId: select("id = ? AND status <> 'deleted'"),
      ofAccount: select("account_id = ? AND status <> 'deleted' ORDER BY seq"),
      count: database.prepare(`
        SELECT count(*) AS live FROM endpoint WHERE account_id = ? AND status <> 'deleted'`),
      // From one network to the next by the index: there may be a million endpoints.
      networks: database.prepare(`
        WITH RECURSIVE used (network) AS (
          SELECT min(network) FROM endpoint WHERE status <> 'deleted'
          UNION ALL
          SELECT (SELECT min(network) FROM endpoint WHERE status <> 'deleted' AND network > used.network)
          FROM used WHERE used.network IS NOT NULL
        )
        SELECT network FROM used WHERE network IS NOT NULL`),
      countOn: database.prepare(`
        SELECT count(*) AS live FROM endpoint WHERE network = ? AND status <> 'deleted'`),
      label: database.prepare('SELECT account_id, network, name, status FROM endpoint WHERE id = ?'),
      insert: database.prepare(`
        INSERT INTO endpoint (id, account_id, network, name, status, created_at, management, key_hash, sealed_key)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`),
      update: database.prepare(`
        UPDATE endpoint
        SET name = ?, status = ?, management = ?, allowed_origins = ?, allowed_ips = ?, per_second = ?
        WHERE id = ?`),
      // Deleted ones stay where they were: their usage is named by it.
      on: select("network = ?1 AND (?2 IS NULL OR account_id = ?2) AND status <> 'deleted'"),
      move: database.prepare(`
        UPDATE endpoint SET network = ?3
        WHERE network = ?1 AND (?2 IS NULL OR account_id = ?2) AND status <> 'deleted'`),
      remove: database.prepare(`
        UPDATE endpoint SET status = 'deleted', key_hash = NULL, sealed_key = NULL WHERE id = ?`),
      purge: database.prepare(`
        UPDATE endpoint SET status = 'deleted', key_hash = NULL, sealed_key = NULL, name = id, allowed_origins = NULL,
          allowed_ips = NULL WHERE account_id = ?`),
    }
  }

  find(id: string): Endpoint | null {
    const row = this.#sql.byId.get(id) as EndpointRow | undefined
    return row === undefined ? null : toEndpoint(row)
  }

  findWithKey(id: string): EndpointWithKey | null {
    const row = this.#sql.byId.get(id) as EndpointRow | undefined
    return row === undefined ? null : this.#withKey(row)
  }

  /** In the order of creation. */
  ofAccount(accountId: string): EndpointWithKey[] {
    return (this.#sql.ofAccount.all(accountId) as EndpointRow[]).map(row => this.#withKey(row))
  }

  count(accountId: string): number {
    return (this.#sql.count.get(accountId) as { live: number }).live
  }

  /** Networks that have an endpoint, in the order of their names. */
  networks(): string[] {
    return (this.#sql.networks.all() as { network: string }[]).map(({ network }) => network)
  }

  /** Endpoints on a network. */
  countOn(network: string): number {
    return (this.#sql.countOn.get(network) as { live: number }).live
  }

  label(id: string): EndpointLabel | null {
    const row = this.#sql.label.get(id) as
      { account_id: string; network: string; name: string; status: string } | undefined
    if (row === undefined) return null
    const { account_id: accountId, network, name, status } = row
    return { accountId, network, name, deleted: status === 'deleted' }
  }

  insert(endpoint: EndpointWithKey): void {
    const { id, accountId, network, name, status, createdAt, management, apiKey } = endpoint
    const sealed = seal(this.#masterKey, id, apiKey)
    this.#sql.insert.run(
      id,
      accountId,
      network,
      name,
      status,
      createdAt,
      Number(management),
      hashKey(apiKey),
      sealed,
    )
  }

  /** Writes what an owner may change. */
  update(endpoint: Endpoint): void {
    const { id, name, status, management, allowedOrigins, allowedIps, perSecond } = endpoint
    const origins = toColumn(allowedOrigins)
    this.#sql.update.run(name, status, Number(management), origins, toColumn(allowedIps), perSecond, id)
  }

  /** The keys of a network's endpoints (`accountId` null: of all accounts), in clear. */
  keysOn(network: string, accountId: string | null): string[] {
    return (this.#sql.on.all(network, accountId) as EndpointRow[]).map(row => this.#withKey(row).apiKey)
  }

  /** Puts them on another network; how many they were. */
  move(from: string, to: string, accountId: string | null): number {
    return this.#sql.move.run(from, accountId, to).changes
  }

  /** Leaves the row, so that its usage can still be named, and nothing of its key. */
  remove(id: string): void {
    this.#sql.remove.run(id)
  }

  /** Removes all of an account, and what is known of those removed before but their ids. */
  purge(accountId: string): void {
    this.#sql.purge.run(accountId)
  }

  #withKey(row: EndpointRow): EndpointWithKey {
    return { ...toEndpoint(row), apiKey: open(this.#masterKey, row.id, row.sealed_key) }
  }
}
