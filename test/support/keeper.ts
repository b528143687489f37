import { join } from 'node:path'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import type { Clock } from '../../src/ports/clock.ts'
import { systemClock } from '../../src/ports/clock.ts'
import type { Ledger } from '../../src/ports/ledger.ts'
import { Keeper } from '../../src/runtime/workers/keeper.ts'
import type { KeeperParts } from '../../src/runtime/workers/keeper.ts'
import { KeeperClient } from '../../src/runtime/workers/keeper-client.ts'
import type { KeeperClientOptions } from '../../src/runtime/workers/keeper-client.ts'
import type { Teardown } from './teardown.ts'
import { tempDir } from './temp-dir.ts'

const nobody: Ledger = {
  totals: () => new Map(),
  sum: () => Promise.reject(new Error('there is no ledger')),
}

/** What a worker answers that serves nothing. */
export const silent: KeeperClientOptions['answers'] = {
  held: () => ({ isTaken: true }),
  take: ({ version }) => ({ version }),
  state: () => ({ pid: 0, version: '', failure: null, networks: [] }),
  metrics: () => ({ process: '0', text: '' }),
  serving: () => ({ served: null }),
  calls: () => ({ lines: [] }),
  trace: () => ({ lines: [], dropped: 0 }),
  purge: () => ({ purged: 0 }),
  explain: () => ({ status: 404, json: null }),
}

/** A keeper that listens, ended with the test. */
export async function startKeeper(
  t: Teardown,
  parts: Partial<KeeperParts> & { readonly clock?: Clock; readonly used?: () => number | null } = {},
): Promise<{ readonly keeper: Keeper; readonly path: string }> {
  const path = join(await tempDir(t), 'keeper.sock')
  return { keeper: await keeperAt(t, path, parts), path }
}

/** The same at a path, as one that follows a killed one. */
export async function keeperAt(
  t: Teardown,
  path: string,
  { clock = systemClock, used = () => 0, ...parts }: Parameters<typeof startKeeper>[1] & object = {},
): Promise<Keeper> {
  const keeper = new Keeper({
    buckets: new LocalBuckets(clock, used),
    takeOver: () => undefined,
    used,
    ledger: nobody,
    reports: () => [],
    heard: () => undefined,
    left: () => Promise.resolve(),
    damaged: () => null,
    config: () => {
      throw new Error('there is no configuration')
    },
    ...parts,
  })
  await keeper.listen(path)
  t.teardown(() => keeper.close())
  return keeper
}

/** A worker's client, once it is connected. */
export async function connectWorker(
  t: Teardown,
  path: string,
  options: Partial<KeeperClientOptions> = {},
): Promise<KeeperClient> {
  return new Promise(resolve => {
    const client: KeeperClient = new KeeperClient({
      path,
      slot: 1,
      serves: () => '',
      answers: silent,
      ...options,
      connected: () => {
        options.connected?.()
        resolve(client)
      },
    })
    t.teardown(() => {
      client.close()
    })
  })
}
