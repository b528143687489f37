import type { DatabaseSync } from '../driver.ts'
import { ENDPOINT_COLUMNS, labelsOf, toColumn, toEndpoint, type EndpointRow } from './endpoint-row.ts'
import { hashKey } from './secrets/hash.ts'
import type { KeyRing } from './secrets/key-ring.ts'
import type { Endpoint, EndpointLabel, EndpointWithKey } from '../../../ports/endpoints.ts'

/** The statements on table `endpoint`. Writes belong in a transaction; the holder keeps the database referenced. */
export class EndpointTable {
  readonly #ring: KeyRing
  readonly #sql

  constructor(database: DatabaseSync, ring: KeyRing) {
    this.#ring = ring
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
        INSERT INTO endpoint (id, account_id, network, name, status, created_at, management, labels, key_hash, sealed_key)
        VALUES (?, ?, ?, ?, ?, ?, ?, nullif(?, '{}'), ?, ?)`),
      update: database.prepare(`
        UPDATE endpoint
        SET name = ?, status = ?, management = ?, allowed_origins = ?, allowed_ips = ?, per_second = ?, daily_limit = ?,
          limited_since = ?, expires_at = ?,
          labels = CASE WHEN labels IS NULL AND ?10 = '{}' THEN NULL ELSE ?10 END
        WHERE id = ?11`),
      // Deleted ones stay where they were: their usage is named by it.
      on: select("network = ?1 AND (?2 IS NULL OR account_id = ?2) AND status <> 'deleted'"),
      move: database.prepare(`
        UPDATE endpoint SET network = ?3
        WHERE network = ?1 AND (?2 IS NULL OR account_id = ?2) AND status <> 'deleted'`),
      remove: database.prepare(`
        UPDATE endpoint SET status = 'deleted', key_hash = NULL, sealed_key = NULL WHERE id = ?`),
      endSessions: database.prepare('DELETE FROM session WHERE endpoint_id = ?'),
      keepOld: database.prepare(`
        INSERT INTO old_key SELECT key_hash, id, sealed_key, ? FROM endpoint WHERE id = ?`),
      setKey: database.prepare('UPDATE endpoint SET key_hash = ?, sealed_key = ? WHERE id = ?'),
      oldKeys: database.prepare('SELECT sealed_key FROM old_key WHERE endpoint_id = ?'),
      dropOldBeyond: database.prepare(`
        DELETE FROM old_key WHERE key_hash IN (
          SELECT key_hash FROM old_key WHERE endpoint_id = ? ORDER BY until DESC LIMIT -1 OFFSET ?)`),
      dropOldOf: database.prepare(
        'DELETE FROM old_key WHERE endpoint_id IN (SELECT id FROM endpoint WHERE account_id = ?)',
      ),
      forgetOld: database.prepare('DELETE FROM old_key WHERE until <= ?'),
      unused: database.prepare('SELECT 1 FROM endpoint WHERE id = ? AND coalesce(used_at, 0) < ?'),
      setUsed: database.prepare(
        'UPDATE endpoint SET used_at = ?1 WHERE id = ?2 AND coalesce(used_at, 0) < ?1',
      ),
      purge: database.prepare(`
        UPDATE endpoint SET status = 'deleted', key_hash = NULL, sealed_key = NULL, name = id, allowed_origins = NULL,
          allowed_ips = NULL, labels = iif(labels IS NULL, NULL, '{}') WHERE account_id = ?`),
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

  insert(endpoint: Omit<EndpointWithKey, 'dailyLimit' | 'limitedSince' | 'lastUsedAt' | 'expiresAt'>): void {
    const { id, accountId, network, name, status, createdAt, management, labels, apiKey } = endpoint
    const sealed = this.#ring.seal(id, apiKey)
    this.#sql.insert.run(
      id,
      accountId,
      network,
      name,
      status,
      createdAt,
      Number(management),
      JSON.stringify(labels),
      hashKey(apiKey),
      sealed,
    )
  }

  /** Puts a new key in the place of the old one, which goes on until a time when that is given; of many old keys the first to end go. */
  setKey({ id }: Endpoint, apiKey: string, until: number | null, most: number): void {
    if (until !== null) this.#sql.keepOld.run(until, id)
    this.#sql.setKey.run(hashKey(apiKey), this.#ring.seal(id, apiKey), id)
    this.#sql.dropOldBeyond.run(id, most)
    // Whoever has signed in with the old key may not be its owner.
    this.#sql.endSessions.run(id)
  }

  /** The old keys of an endpoint that have not ended, in clear. */
  oldKeys(id: string): string[] {
    return (this.#sql.oldKeys.all(id) as { sealed_key: Uint8Array }[]).map(row =>
      this.#open(id, row.sealed_key),
    )
  }

  /** Removes old keys that have ended. */
  forgetOldKeys(now: number): void {
    this.#sql.forgetOld.run(now)
  }

  /** Whether nothing is written down of an endpoint's use in this hour, or a later one. */
  isUnused(id: string, hour: number): boolean {
    return this.#sql.unused.get(id, hour) !== undefined
  }

  /** Writes down the hour in which an endpoint was last used. */
  setUsed(id: string, hour: number): void {
    this.#sql.setUsed.run(hour, id)
  }

  /** Writes what an owner may change. */
  update(endpoint: EndpointWithKey): void {
    const { id, name, status, management, perSecond, dailyLimit, limitedSince, expiresAt } = endpoint
    const origins = toColumn(endpoint.allowedOrigins)
    const ips = toColumn(endpoint.allowedIps)
    const limits = [perSecond, dailyLimit, limitedSince, expiresAt] as const
    this.#sql.update.run(
      name,
      status,
      Number(management),
      origins,
      ips,
      ...limits,
      JSON.stringify(endpoint.labels),
      id,
    )
  }

  /** The keys of a network's endpoints (`accountId` null: of all accounts), in clear. */
  keysOn(network: string, accountId: string | null): string[] {
    const rows = this.#sql.on.all(network, accountId) as EndpointRow[]
    return rows.flatMap(row => [this.#withKey(row).apiKey, ...this.oldKeys(row.id)])
  }

  /** Puts them on another network; how many they were. */
  move(from: string, to: string, accountId: string | null): number {
    return this.#sql.move.run(from, accountId, to).changes
  }

  /** Leaves the row, so that its usage can still be named, and nothing of its key. */
  remove(id: string): void {
    this.#sql.dropOldBeyond.run(id, 0)
    this.#sql.remove.run(id)
  }

  /** Removes all of an account, and what is known of those removed before but their ids. */
  purge(accountId: string): void {
    this.#sql.dropOldOf.run(accountId)
    this.#sql.purge.run(accountId)
  }

  #withKey(row: EndpointRow): EndpointWithKey {
    const { used_at: lastUsedAt, labels } = row
    return {
      ...toEndpoint(row),
      lastUsedAt,
      labels: labelsOf(labels),
      apiKey: this.#open(row.id, row.sealed_key),
    }
  }

  #open(id: string, sealed: Uint8Array): string {
    return this.#ring.open(id, sealed)
  }
}
