/** How the traces of a process follow its configuration. */
import t from 'tap'
import { buildTracing } from '../../../src/config/observing/build.ts'
import { openLog } from '../../../src/observe/log.ts'
import { Metrics } from '../../../src/observe/metrics.ts'
import { Traces } from '../../../src/observe/tracing/tracing.ts'
import { systemClock } from '../../../src/ports/clock.ts'
import type { Observation } from '../../../src/ports/observer.ts'
import type { TracedCaller } from '../../../src/ports/tracing.ts'
import { startCollector } from '../../support/collector.ts'

const config = (endpoint: string) => buildTracing({ endpoint, sample: '100%' })
const parts = () => ({
  clock: systemClock,
  metrics: new Metrics(),
  process: {},
  log: openLog('silent', { write: () => undefined }),
})
const caller: TracedCaller = {
  network: { slug: 'alpha' },
  plan: { name: 'free' },
  payer: null,
  transport: 'http',
}
const seen: Observation = {
  requestId: 'r',
  account: null,
  endpoint: null,
  network: 'alpha',
  method: 'm',
  plan: 'free',
  transport: 'http',
  address: '192.0.2.1',
  rowClass: 'none',
  route: null,
  status: 200,
  outcome: 'ok',
  cache: null,
  shared: false,
  reason: null,
  requests: 1,
  totalMs: 1,
  upstreamMs: 0,
  traceId: null,
}
const begin = (traces: Traces) =>
  traces.begin({ trace: null, requestId: 'r' }, caller, systemClock.monotonic(), null)

/** A whole call; returns whether it is recorded. */
function call(traces: Traces): boolean {
  const record = begin(traces)
  record?.settle(false, 1)
  record?.export(seen)
  return record !== null
}

t.test(
  'bug: an export that was opened while the process ended stayed open, and its spans were lost',
  async t => {
    const collector = await startCollector(t)
    const traces = new Traces(parts())
    const followed = traces.follow(config(collector.url))
    // In the turn in which the exporter is open, before anything else may close it.
    const called = followed.then(() => call(traces))
    await traces.close()
    t.equal(await called, true)
    t.strictSame(
      collector.spans.map(({ name }) => name),
      ['m'],
      'it was exported before the end',
    )
    t.equal(call(traces), false, 'nothing is open')
    await traces.follow(config(collector.url))
    t.equal(call(traces), false, 'nothing is opened any more')
  },
)

t.test('bug: of two configurations the one won whose exporter took longer to open', async t => {
  const collector = await startCollector(t)
  const traces = new Traces(parts())
  t.teardown(() => traces.close())
  await Promise.all([traces.follow(config(collector.url)), traces.follow(null)])
  t.equal(call(traces), false)
  await Promise.all([traces.follow(null), traces.follow(config(collector.url))])
  t.equal(call(traces), true)
})
