import { join } from 'node:path'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import type { Access } from '../../support/access.ts'
import { withAccounts } from '../../support/accounts.ts'
import type { Gateway } from '../../support/gateway.ts'

const DAYS = 60
const METHODS = ['eth_call', 'eth_getBalance', 'eth_getLogs']

/** Gives an account 100 endpoints with 60 days of usage by the hour, while the gateway does not run. */
export async function stockUsage(gateway: Gateway, { accountId }: Access): Promise<void> {
  const endpoints = await withAccounts(gateway, async store => {
    const ids: string[] = []
    for (let i = 0; i < 98; i++) {
      const endpoint = await store.endpoints.create({ accountId, network: 'alpha' })
      if (typeof endpoint !== 'string') ids.push(endpoint.id)
    }
    return ids
  })
  const journal = new DatabaseSync(join(gateway.dir, 'data', 'journal.db'))
  const now = Math.floor(Date.now() / 3_600_000) * 3600
  journal
    .prepare(
      `WITH RECURSIVE hours(hour) AS (SELECT ?1 UNION ALL SELECT hour - 3600 FROM hours WHERE hour > ?1 - ?2 * 86400)
       INSERT INTO usage (endpoint, hour, method, account, network, calls, requests, errors, refusals, bytes_out, upstream_ms, plan)
       SELECT e.value, hour, m.value, ?3, 'alpha', 10, 10, 0, 0, 100, 10, 'free'
       FROM json_each(?4) AS e, hours, json_each(?5) AS m`,
    )
    .run(now - 3600, DAYS, accountId, JSON.stringify(endpoints), JSON.stringify(METHODS))
  journal.close()
}
