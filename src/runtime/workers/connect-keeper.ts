/** A worker's way to the keeper. */
import { setTimeout as pause } from 'node:timers/promises'
import { KeeperClient } from './keeper-client.ts'
import type { Closing } from '../closing.ts'
import type { Started } from './answer-keeper.ts'

/** Milliseconds that the keeper gets to come up, and between two looks. */
const KEEPER_PATIENCE = 30_000
const LOOK = 20

/** A way to the keeper, once it is there: it may be starting. */
export async function connect(
  path: string,
  slot: number,
  started: Started,
  closing: Closing,
): Promise<KeeperClient> {
  const keeper = new KeeperClient({
    path,
    slot,
    answers: started.answers,
    serves: () => started.version,
    heard: news => {
      started.heard(news)
    },
    connected: () => {
      started.connected()
    },
    renewed: () => {
      started.renewed()
    },
    hangs: () => {
      started.keeperHangs()
    },
    holdings: {
      hello: () => started.holdings?.hello() ?? [],
      recall: async recalled => (await started.holdings?.recall(recalled)) ?? recalled.map(() => 0),
    },
  })
  closing.push(() => {
    keeper.close()
  })
  const end = performance.now() + KEEPER_PATIENCE
  while (!keeper.isConnected) {
    if (performance.now() > end) throw new Error('the keeper of this gateway does not answer')
    await pause(LOOK)
  }
  return keeper
}

/** Asks the keeper, and the next one where it ends meanwhile. */
export async function patiently<T>(question: () => Promise<T>): Promise<T> {
  const end = performance.now() + KEEPER_PATIENCE
  for (;;)
    try {
      return await question()
    } catch (error) {
      if (performance.now() > end) throw error
      await pause(LOOK)
    }
}
