import { withAccounts } from '../../support/accounts.ts'
import type { Gateway } from '../../support/gateway.ts'
import { Random } from '../../support/random.ts'
import { writePastUsage } from './past-usage.ts'
import type { PastUsage } from './past-usage.ts'

/** An account with many endpoints, and what it takes to sign in. */
export interface Crowd {
  readonly accountId: string
  readonly token: string
  readonly endpoints: readonly { readonly id: string; readonly network: string; readonly key: string }[]
}

const STAGES = ['production', 'staging', 'indexer', 'bridge watcher', 'mobile app', 'price bot', 'tests']

const TEAMS = ['wallet', 'data', 'payments']

/** Methods with their calls an hour on the busiest endpoint, and the cost of a call. */
const METHODS: readonly [method: string, calls: number, cost: number][] = [
  ['eth_call', 9000, 1],
  ['eth_getLogs', 2600, 1],
  ['eth_getBlockReceipts', 900, 3],
  ['eth_blockNumber', 5200, 1],
]

/**
 * Makes an account of `count` endpoints over the networks, with usage of every hour of `days`: about ten million requests a day with a hundred
 * endpoints. The gateway must not be running.
 */
export async function writeCrowd(
  gateway: Gateway,
  { networks, plan, count, days }: { networks: readonly string[]; plan: string; count: number; days: number },
): Promise<Crowd> {
  const random = new Random(11)
  const crowd = await withAccounts(gateway, async store => {
    const { account, dashboardToken } = await store.accounts.create({ name: 'Acme Wallet', plan })
    const endpoints = []
    for (let i = 0; i < count; i++) {
      const network = networks[i % networks.length]!
      const name = `${STAGES[i % STAGES.length]!} ${Math.floor(i / STAGES.length) + 1}`
      const made = await store.endpoints.create({ accountId: account.id, network, name })
      if (typeof made === 'string') throw new Error(made)
      endpoints.push({ id: made.id, network, key: made.apiKey })
      const labels = { team: TEAMS[i % TEAMS.length]!, ...(i % 9 === 4 ? { legacy: '' } : {}) }
      if (i % 4 !== 3) await store.endpoints.change(account.id, made.id, { labels })
      if (i % 17 === 16) await store.endpoints.change(account.id, made.id, { status: 'inactive' })
    }
    const hour = Math.floor(Date.now() / 3_600_000) * 3600
    await store.recordUse(
      endpoints.map(({ id }) => id),
      hour,
    )
    return { accountId: account.id, token: dashboardToken, endpoints, window: account.createdAt }
  })
  const hours = days * 24
  const rows = crowd.endpoints.flatMap(({ id, network }, i) =>
    METHODS.slice(0, 2 + (i % 3)).flatMap(([method, most, cost]) =>
      Array.from({ length: hours }, (_, hoursAgo): PastUsage => {
        const wave = 1 + 0.5 * Math.sin((hoursAgo / 12) * Math.PI)
        const calls = 1 + Math.floor(((most * wave) / (i + 3)) * (0.8 + random.below(400) / 1000))
        const errors = Math.floor(calls * 0.00002 * random.below(1000))
        const ms = 4 + 9 * cost
        // Every tenth endpoint runs into its limits now and then, and has in this hour, so that it has today in the first hours of a day too.
        const refused = i % 10 === 0 && hoursAgo % 7 === 0 ? { rate_limited: 40, invalid_params: 3 } : {}
        return {
          account: crowd.accountId,
          endpoint: id,
          network,
          method,
          hoursAgo,
          calls,
          cost,
          errors,
          ms,
          refused,
        }
      }),
    ),
  )
  writePastUsage(gateway, rows, crowd.window)
  return crowd
}
