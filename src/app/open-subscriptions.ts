/** Subscriptions as `serve` composes them: what goes wrong with a socket is logged. */
import type { ByteBudget } from '../limits/byte-budget.ts'
import type { Logger } from '../observe/log.ts'
import type { Holdings } from '../ports/holdings.ts'
import type { Observer } from '../ports/observer.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { SharedSubscriptions } from '../subscriptions/shared/subscriptions.ts'
import type { Upstreams } from '../routes/upstreams.ts'

/** Opens no socket yet: the first subscription does. */
export function openSubscriptions(
  upstreams: Upstreams,
  snapshot: Snapshot,
  budget: ByteBudget,
  observer: Pick<Observer, 'bug'>,
  log: Logger,
  holdings?: Holdings,
): SharedSubscriptions {
  return new SharedSubscriptions({
    upstreams,
    snapshot,
    budget,
    ...(holdings && { holdings }),
    connectTimeout: () => snapshot.gateway.timeouts.connect,
    events: {
      bug: (error, where) => {
        observer.bug(error, where)
      },
      cut: (route, why) => {
        log.error(
          { route, why },
          'socket of a route closed: for a minute other routes carry its subscriptions',
        )
      },
      socketsFail: (route, why) => {
        log.warn({ route, why }, 'sockets of a route fail')
      },
      socketsLast: (route, ms) => {
        log.info({ route, failedMs: Math.round(ms) }, 'sockets of the route stay open again')
      },
    },
  })
}
