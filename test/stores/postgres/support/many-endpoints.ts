/** An installation of one machine with many endpoints, made at once. */
import { createSecretKey, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { openAccounts } from '../../../../src/stores/sqlite/accounts/store.ts'
import { hashKey } from '../../../../src/stores/sqlite/accounts/secrets/hash.ts'
import { newAccountId, newEndpointId } from '../../../../src/stores/sqlite/accounts/secrets/ids.ts'
import { mintKey } from '../../../../src/stores/sqlite/accounts/secrets/keys.ts'
import { seal } from '../../../../src/stores/sqlite/accounts/secrets/seal.ts'
import { DatabaseSync } from '../../../../src/stores/sqlite/driver.ts'
import { inTransaction } from '../../../../src/stores/sqlite/transaction.ts'
import { ENV } from './machines.ts'

/** Makes accounts with a hundred endpoints each, and some of everything else; returns keys by the ids of endpoints. */
export async function makeEndpoints(
  dataDir: string,
  endpoints: number,
): Promise<ReadonlyMap<string, string>> {
  const store = await openAccounts({ dataDir, env: ENV })
  const { account, dashboardToken } = await store.accounts.create({ name: 'first', plan: 'free' })
  const rotated = await store.endpoints.create({ accountId: account.id, network: 'bsc' })
  if (typeof rotated === 'string') throw new Error(rotated)
  await store.endpoints.rotateKey(null, rotated.id, 3_600)
  await store.sessions.open(store.signIns.open(dashboardToken)!, Date.now())
  await store.tokens.create({ name: 'ci', scopes: ['accounts:read'], expiresAt: null })
  await store.alerts.setWebhook(account.id, 'https://x.io/hook')
  store.close()
  const masterKey = createSecretKey(Buffer.from(ENV.TOLLGATE_MASTER_KEY, 'base64'))
  const database = new DatabaseSync(join(dataDir, 'accounts.db'))
  const insertAccount = database.prepare(`
    INSERT INTO account (id, name, plan, status, created_at, token_hash) VALUES (?, 'many', 'free', 'active', 1, ?)`)
  const insert = database.prepare(`
    INSERT INTO endpoint (id, account_id, network, name, status, created_at, management, per_second, key_hash, sealed_key)
    VALUES (?, ?, 'bsc', 'prod', 'active', 1, 1, 0.1, ?, ?)`)
  const keys = new Map<string, string>()
  inTransaction(database, () => {
    let accountId = ''
    for (let i = 0; i < endpoints; i += 1) {
      if (i % 100 === 0) insertAccount.run((accountId = newAccountId()), randomBytes(32))
      const [id, key] = [newEndpointId(), mintKey()]
      insert.run(id, accountId, hashKey(key), seal(masterKey, id, key))
      keys.set(id, key)
    }
  })
  database.close()
  return keys
}
