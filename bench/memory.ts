/**
 * Memory of the real process over a run at full load: forwarded calls, as fast as they go. Run
 * with `node --import=tsx bench/memory.ts [minutes]`, ten by default. What is resident is looked at every few seconds after a warm-up;
 * it goes up and down with garbage by tens of MiB, so what V8 says that its full collections left is told too.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { resident } from '../test/support/memory.ts'
import { FORWARDED } from './parts/calls.ts'
import { cpuOf, median } from './parts/cpu.ts'
import { load } from './parts/load.ts'
import { Processes, configFor } from './parts/processes.ts'

const MiB = 2 ** 20
const MINUTES = Number(process.argv[2] ?? 10)
/** Seconds: of the whole run, of the load before it, and between two looks. A short run has all of it shorter. */
const RUN = MINUTES * 60
const WARM_UP = Math.min(60, RUN / 4)
const EVERY = Math.min(5, RUN / 20)
/** Seconds whose median is told, at the begin and at the end. */
const WINDOW = Math.min(60, RUN / 3)

interface Sample {
  /** Minutes since the warm-up. */
  readonly at: number
  readonly mib: number
}

/** Samples a process until the run is over. */
async function sample(pid: number): Promise<Sample[]> {
  const samples: Sample[] = []
  const begin = performance.now()
  for (;;) {
    const seconds = (performance.now() - begin) / 1000
    if (seconds > RUN) return samples
    samples.push({ at: seconds / 60, mib: (await resident(pid)) / MiB })
    console.error(`${seconds.toFixed(0)} s, ${samples.at(-1)!.mib.toFixed(1)} MiB`)
    await pause(EVERY * 1000)
  }
}

/** The heap after each full collection that V8 has told of in its trace. */
function collections(trace: string): Sample[] {
  const lines = [...trace.matchAll(/ (\d+) ms: Mark-Compact.*? -> ([\d.]+) \(/g)]
  return lines.map(([, ms, mib]) => ({ at: Number(ms) / 60_000, mib: Number(mib) }))
}

/** MiB a minute, by least squares. */
function slope(samples: readonly Sample[]): string {
  if (samples.length < 2) return '–'
  const mean = (of: (sample: Sample) => number): number =>
    samples.reduce((sum, each) => sum + of(each), 0) / samples.length
  const [at, mib] = [mean(each => each.at), mean(each => each.mib)]
  const grown = mean(each => (each.at - at) * (each.mib - mib)) / mean(each => (each.at - at) ** 2)
  return grown.toFixed(2)
}

const processes = new Processes()
try {
  const upstream = await processes.part('upstream')
  const { pid, listen } = await processes.gateway(configFor(upstream.listen), ['--trace-gc'])
  const url = `http://${listen}/eth/v1/rpc/${await processes.key('bench')}`
  const idle = (await resident(pid)) / MiB
  const loaded = (seconds: number): Promise<number> =>
    load({ url, body: FORWARDED, posts: Infinity, seconds: Math.ceil(seconds) })
  await loaded(WARM_UP)
  const [before, traced] = [cpuOf(pid), processes.printed(pid).length]
  const [calls, samples] = await Promise.all([loaded(RUN), sample(pid)])
  const cpu = (cpuOf(pid) - before) / 1e6
  const medianOf = (which: (sample: Sample) => boolean): string =>
    median(samples.filter(which).map(each => each.mib)).toFixed(1)
  const first = medianOf(each => each.at * 60 <= WINDOW)
  const last = medianOf(each => each.at * 60 >= RUN - WINDOW)
  const left = collections(processes.printed(pid).slice(traced))
  const most = Math.max(...samples.map(each => each.mib))
  console.log(`${MINUTES} minutes at full load: ${calls} forwarded calls, ${(calls / RUN).toFixed(0)} a second
| memory | MiB |\n|---|---|
| before any load | ${idle.toFixed(1)} |
| first ${WINDOW.toFixed(0)} s, median | ${first} |
| last ${WINDOW.toFixed(0)} s, median | ${last} |
| the most | ${most.toFixed(1)} |
| slope, a minute | ${slope(samples)} |
| heap after the first and the last of ${left.length} full collections | ${left[0]?.mib ?? '–'}, ${left.at(-1)?.mib ?? '–'} |
| its slope, a minute | ${slope(left)} |
| CPU of the gateway, of one core | ${((cpu / RUN) * 100).toFixed(0)} % |`)
} finally {
  await processes.stop()
}
