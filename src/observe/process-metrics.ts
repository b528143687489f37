/** Metrics of the process and of Node.js, at a cost that does not grow with the connections. */
import { readdir } from 'node:fs/promises'
import { collectDefaultMetrics, Gauge } from 'prom-client'
import type { Registry } from 'prom-client'

/** Each of them lists every handle there is within one turn: 10 ms with 4 000 sockets. The gateway counts its connections itself. */
const BY_HANDLE = [
  'nodejs_active_handles',
  'nodejs_active_handles_total',
  'nodejs_active_resources',
  'nodejs_active_resources_total',
  'nodejs_active_requests',
  'nodejs_active_requests_total',
]
const OPEN_FDS = 'process_open_fds'

/** Adds prom-client's default metrics but for those by handle; open descriptors are counted off this thread, which they held for 29 ms. */
export function collectProcessMetrics(registry: Registry): void {
  collectDefaultMetrics({ register: registry })
  for (const name of BY_HANDLE) registry.removeSingleMetric(name)
  if (registry.getSingleMetric(OPEN_FDS) === undefined) return
  registry.removeSingleMetric(OPEN_FDS)
  new Gauge({
    name: OPEN_FDS,
    help: 'Number of open file descriptors.',
    registers: [registry],
    async collect() {
      const open = await readdir('/proc/self/fd').catch(() => null)
      // One of them is what the list was read through.
      if (open !== null) this.set(open.length - 1)
    },
  })
}
