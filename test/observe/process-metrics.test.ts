import { openSync, closeSync } from 'node:fs'
import { Registry } from 'prom-client'
import t from 'tap'
import { collectProcessMetrics } from '../../src/observe/process-metrics.ts'

/** The value of a metric without labels. */
async function valueOf(registry: Registry, name: string): Promise<number> {
  const text = await registry.getSingleMetricAsString(name)
  return Number(text.trim().split('\n').at(-1)!.split(' ')[1])
}

t.test('what Node.js tells of itself is there, but for lists of all handles', async t => {
  const registry = new Registry()
  collectProcessMetrics(registry)
  const names = (await registry.getMetricsAsJSON()).map(({ name }) => name)
  for (const name of [
    'process_cpu_seconds_total',
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_gc_duration_seconds',
  ])
    t.ok(names.includes(name), name)
  t.strictSame(
    names.filter(name => name.startsWith('nodejs_active_')),
    [],
  )
})

t.test(
  'open descriptors are counted',
  { skip: process.platform !== 'linux' && 'only Linux lists them' },
  async t => {
    const registry = new Registry()
    collectProcessMetrics(registry)
    const before = await valueOf(registry, 'process_open_fds')
    t.ok(before > 0)
    const files = Array.from({ length: 50 }, () => openSync('/dev/null', 'r'))
    t.equal(await valueOf(registry, 'process_open_fds'), before + 50)
    for (const file of files) closeSync(file)
    t.equal(await valueOf(registry, 'process_open_fds'), before)
  },
)
