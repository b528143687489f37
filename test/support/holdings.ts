import { SharedHoldings } from '../../src/limits/holdings.ts'
import { systemClock } from '../../src/ports/clock.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { KeeperClient, KeeperClientOptions } from '../../src/runtime/workers/keeper-client.ts'
import { connectWorker } from './keeper.ts'
import type { Teardown } from './teardown.ts'

/** A worker's holdings, and its client of the keeper. */
export type ConnectedHoldings = SharedHoldings & { readonly client: KeeperClient }

/** What a worker holds, over its own connection to the keeper. */
export async function connectHoldings(
  t: Teardown,
  path: string,
  { clock = systemClock, ...options }: Partial<KeeperClientOptions> & { readonly clock?: Clock } = {},
): Promise<ConnectedHoldings> {
  let holdings: SharedHoldings | null = null
  const client = await connectWorker(t, path, {
    ...options,
    holdings: {
      hello: () => holdings?.hello() ?? [],
      recall: async recalled => (await holdings?.recall(recalled)) ?? recalled.map(() => 0),
    },
  })
  const made = new SharedHoldings({ store: client, clock, every: 25 })
  holdings = made
  t.teardown(() => {
    made.close()
  })
  return Object.assign(made, { client })
}
