import { spawnSync } from 'node:child_process'
import t from 'tap'
import { KeptCounters } from '../../../src/runtime/workers/kept-counters.ts'
import { countersOf, wholeMetrics } from '../../../src/observe/whole-metrics.ts'
import { atOnce } from '../../../src/reload/time-slices.ts'
import { StateFile } from '../../../src/stores/sqlite/state-file.ts'

/** One that runs as long as this test does. */
const here = `${process.pid}-1`
/** One that has ended. */
const gone = `${spawnSync(process.execPath, ['-e', '']).pid}-1`

const stateIn = (dir: string, gateway = 'one') =>
  new StateFile(dir, gateway, error => {
    t.error(error)
  })
const text = (calls: number, open: number) =>
  [
    '# HELP calls_total Calls',
    '# TYPE calls_total counter',
    `calls_total{network="a"} ${calls}`,
    '# HELP open Open',
    '# TYPE open gauge',
    `open ${open}`,
    '# HELP took Seconds',
    '# TYPE took histogram',
    `took_bucket{le="+Inf"} ${calls}`,
    `took_sum 0.5`,
    '',
  ].join('\n')
/** What Prometheus would read. */
const sum = async (counters: KeptCounters, now: Parameters<KeptCounters['with']>[0]) => {
  const whole = atOnce(wholeMetrics(await counters.with(now)))
  const value = (series: string) =>
    Number(
      whole
        .split('\n')
        .find(line => line.startsWith(`${series} `))
        ?.slice(series.length),
    )
  return [value('calls_total{network="a"}'), value('took_bucket{le="+Inf"}'), value('open')]
}

t.test('what was counted by a process that has ended stays, and what it held does not', async t => {
  const counters = new KeptCounters(stateIn(t.testdir({})))
  t.strictSame(await sum(counters, [{ process: gone, text: text(5, 2) }]), [5, 5, 2])
  t.strictSame(await sum(counters, [{ process: here, text: text(3, 1) }]), [8, 8, 1])
  t.strictSame(await sum(counters, [{ process: here, text: text(4, 0) }]), [9, 9, 0])
})

t.test('one that does not answer counts with what it told last', async t => {
  const counters = new KeptCounters(stateIn(t.testdir({})))
  await sum(counters, [{ process: here, text: text(5, 2) }])
  t.strictSame(await sum(counters, []), [5, 5, NaN])
  t.strictSame(await sum(counters, [{ process: here, text: text(6, 2) }]), [6, 6, 2])
})

t.test('who comes next goes on, in the same gateway only', async t => {
  const dir = t.testdir({})
  const first = new KeptCounters(stateIn(dir))
  await first.record([
    { process: gone, text: text(5, 2) },
    { process: here, text: text(1, 2) },
  ])
  const next = new KeptCounters(stateIn(dir))
  t.strictSame(await sum(next, [{ process: here, text: text(2, 1) }]), [7, 7, 1])
  t.strictSame(await sum(new KeptCounters(stateIn(dir, 'another')), []), [NaN, NaN, NaN])
})

t.test('counters and histograms are what only grows', t => {
  t.strictSame(atOnce(countersOf(text(5, 2))).split('\n'), [
    '# HELP calls_total Calls',
    '# TYPE calls_total counter',
    'calls_total{network="a"} 5',
    '# HELP took Seconds',
    '# TYPE took histogram',
    'took_bucket{le="+Inf"} 5',
    'took_sum 0.5',
    '',
  ])
  t.end()
})

t.test('bug: a sum of seconds fell by its last digit when a process ended', t => {
  const took = (seconds: number): string =>
    ['# HELP took Seconds', '# TYPE took histogram', `took_sum ${seconds}`, ''].join('\n')
  const whole = (...seconds: number[]): string => atOnce(wholeMetrics(seconds.map(took)))
  // In this order the sum of all is 0.6000000000000001, in the other one 0.6.
  t.equal(whole(0.1, 0.2, 0.3), whole(0.3, 0.2, 0.1))
  t.match(whole(0.1, 0.2, 0.3), /^took_sum 0\.6$/m)
  t.equal(whole(0.30000000000000004), whole(0.30000000000000004, 0), 'and none by a process that begins')
  t.end()
})
