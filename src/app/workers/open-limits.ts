/** What the keeper counts for its workers: the limits of this machine, or its part of those of all machines. */
import type { Gateway } from '../../call/gateway.ts'
import { SharedBuckets } from '../../limits/shared/buckets.ts'
import { HeldCounts } from '../../limits/shared/held-counts.ts'
import { MachineBuckets } from '../../limits/shared/machine-buckets.ts'
import { systemClock } from '../../ports/clock.ts'
import type { Keeper, KeeperParts } from '../../workers/keeper.ts'
import type { KeeperRole } from '../../workers/role.ts'
import type { Begun } from '../begin.ts'
import type { Closing } from '../closing.ts'
import { openFleetLimits } from '../open-fleet-limits.ts'

/** Counts in the memory of the keeper, or with `redis` over all machines. */
export async function openLimits(
  { snapshot, stores, metrics, log }: Begun,
  { workers, gateway: name }: Pick<KeeperRole, 'workers' | 'gateway'>,
  keeper: () => Keeper,
  gateway: () => Gateway,
  closing: Closing,
): Promise<Required<Pick<KeeperParts, 'buckets' | 'holdings'>>> {
  const { ledger } = stores
  const { redis } = snapshot.gateway
  if (redis === null)
    return {
      buckets: new SharedBuckets(systemClock, (...asked) => ledger.usedInWindow(...asked)),
      holdings: new HeldCounts({ processes: workers }),
    }
  const { asking, holdings } = await openFleetLimits(
    {
      config: redis,
      now: () => gateway().snapshot.gateway.redis ?? redis,
      processes: workers,
      usedInWindow: async (...asked) => {
        // What the workers have charged and not handed over is used too.
        await keeper().gather()
        return ledger.usedInWindow(...asked)
      },
      machinesHeard: live => {
        keeper().broadcast({ t: 'machines', live })
      },
      ...{ metrics, log },
    },
    closing,
  )
  return {
    buckets: new MachineBuckets(asking, systemClock),
    holdings: {
      // A worker keeps its name when the keeper is another one.
      join: (slot, process, held, instance = '') =>
        holdings.join(`${name}/${String(slot).padStart(3, '0')}/${instance}`, process, held),
    },
  }
}
