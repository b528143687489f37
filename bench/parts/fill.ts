import { AccountTable } from '../../src/stores/sqlite/accounts/account-table.ts'
import { openDatabase } from '../../src/stores/sqlite/accounts/database.ts'
import { EndpointTable } from '../../src/stores/sqlite/accounts/endpoint-table.ts'
import { hashKey } from '../../src/stores/sqlite/accounts/secrets/hash.ts'
import { newAccountId, newEndpointId } from '../../src/stores/sqlite/accounts/secrets/ids.ts'
import { mintKey, mintToken } from '../../src/stores/sqlite/accounts/secrets/keys.ts'
import { ENDPOINT_LIMIT } from '../../src/ports/endpoints.ts'
import { generateName } from '../../src/stores/sqlite/accounts/name.ts'
import { closeFile } from '../../src/stores/sqlite/file.ts'
import { inTransaction } from '../../src/stores/sqlite/transaction.ts'

/** Endpoints between two lines on stderr. */
const TELL = 100_000

/**
 * Makes endpoints of one network, as many to an account as there may be, as the product makes them but in one transaction: a million
 * in about half a minute. Returns about `wanted` of their keys, from all over the file. No gateway may run on it yet.
 */
export async function fill(
  dataDir: string,
  {
    endpoints,
    wanted,
    network,
    plan = 'bench',
  }: { endpoints: number; wanted: number; network: string; plan?: string },
): Promise<string[]> {
  const { database, ring } = await openDatabase(dataDir, {})
  // The keys' hashes fall anywhere in their index, which would be read and written again and again.
  database.exec('PRAGMA cache_size = -1000000')
  const [accounts, table] = [new AccountTable(database), new EndpointTable(database, ring)]
  const [every, createdAt, begin] = [Math.ceil(endpoints / wanted), 1_700_000_000, performance.now()]
  const keys: string[] = []
  inTransaction(database, () => {
    let accountId = ''
    for (let n = 0; n < endpoints; n += 1) {
      if (n % ENDPOINT_LIMIT === 0) {
        accountId = newAccountId()
        const account = {
          id: accountId,
          name: `bench ${n}`,
          plan,
          status: 'active',
          createdAt,
          externalId: null,
          email: null,
          labels: {},
        } as const
        accounts.insert(account, hashKey(mintToken()))
      }
      const [id, apiKey, name] = [newEndpointId(), mintKey(), generateName(network)]
      const open = { management: true, allowedOrigins: null, allowedIps: null, perSecond: null, labels: {} }
      table.insert({ id, accountId, network, name, status: 'active', createdAt, apiKey, ...open })
      if (n % every === 0) keys.push(apiKey)
      if ((n + 1) % TELL === 0)
        console.error(`${n + 1} endpoints, ${((performance.now() - begin) / 1000).toFixed(0)} s`)
    }
  })
  closeFile(database)
  return keys
}
