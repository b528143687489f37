/** What the keeper counts for its workers: the limits of this machine, or its part of those of all machines. */
import type { Config } from '../../config/types.ts'
import { LocalBuckets } from '../../limits/buckets.ts'
import { HeldCounts } from '../../limits/held-counts.ts'
import { MachineBuckets } from '../../limits/machine-buckets.ts'
import { systemClock } from '../../ports/clock.ts'
import type { Keeper, KeeperParts } from './keeper.ts'
import type { KeeperRole } from './role.ts'
import type { Begun } from '../begin.ts'
import type { Closing } from '../closing.ts'
import { openFleetLimits } from '../open-fleet-limits.ts'
import type { Usage } from '../open-usage.ts'

/** What of them the keeper is made with, and the keeper, once it is. */
export interface KeeperLimits {
  readonly parts: Required<Pick<KeeperParts, 'buckets' | 'holdings'>>
  keeper: Keeper | null
}

/** Counts in the memory of the keeper, or with `redis` over all machines. */
export async function openLimits(
  { snapshot, metrics, log }: Begun,
  { workers, gateway: name }: Pick<KeeperRole, 'workers' | 'gateway'>,
  {
    usedInWindow,
    usedByNow,
    ownInWindow,
    config,
  }: Pick<Usage, 'usedInWindow' | 'usedByNow' | 'ownInWindow'> & { readonly config: () => Config },
  closing: Closing,
): Promise<KeeperLimits> {
  const { redis } = snapshot.gateway
  if (redis === null) {
    const buckets = new LocalBuckets(systemClock, usedInWindow)
    return { parts: { buckets, holdings: new HeldCounts({ processes: workers }) }, keeper: null }
  }
  const made: { keeper: Keeper | null } = { keeper: null }
  const { asking, holdings } = await openFleetLimits(
    {
      config: redis,
      now: () => config().gateway.redis ?? redis,
      usedInWindow: async (...asked) => {
        // What the workers have charged and not handed over is used too.
        await made.keeper?.gather()
        return usedInWindow(...asked)
      },
      usedByNow: async (...asked) => {
        await made.keeper?.gather()
        return usedByNow(...asked)
      },
      // It is asked for behind the first.
      ownInWindow,
      machinesHeard: live => {
        made.keeper?.broadcast({ t: 'machines', live })
      },
      metrics,
      log,
    },
    closing,
  )
  const parts: KeeperLimits['parts'] = {
    buckets: new MachineBuckets(asking, systemClock),
    holdings: {
      // A worker keeps its name when the keeper is another one.
      join: (slot, process, held, instance = '') =>
        holdings.join(`${name}/${String(slot).padStart(3, '0')}/${instance}`, process, held),
    },
  }
  return Object.assign(made, { parts })
}
