/** One log line for each change in what routes can serve. */
import type { Logger } from '../../observe/log.ts'
import type { Observer } from '../../ports/observer.ts'
import type { ProberEvents } from '../../routes/health/prober.ts'

/** What the prober finds out, as log lines. */
export function logRoutes(
  log: Logger,
  observer: Pick<Observer, 'bug'>,
  alerts: Pick<ProberEvents, 'networkDown' | 'networkUp'>,
): ProberEvents {
  return {
    wrongChain(network, route, why) {
      log.error({ network, route, why }, 'a route serves another chain and gets no calls')
    },
    routeDown(network, route, why) {
      log.warn({ network, route, why }, 'route is down')
    },
    routeUp(network, route, ms) {
      log.info({ network, route, downMs: Math.round(ms) }, 'route is up again')
    },
    networkDown(network, why) {
      log.error({ network, why }, 'every route of the network is down')
      alerts.networkDown(network, why)
    },
    networkUp(network, ms) {
      log.info({ network, downMs: Math.round(ms) }, 'the network has a route again')
      alerts.networkUp(network, ms)
    },
    bug(error, route) {
      observer.bug(error, `probe of ${route}`)
    },
  }
}
