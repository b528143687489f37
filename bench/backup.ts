/**
 * What a backup costs a gateway under full load: calls per second with backups one after the other beside it, against none, and the longest block of the
 * gateway's loop. The gateway has a core to itself; the load and the backups share the other one, on which the load
 * comes first (as root), so that it is the gateway that is measured. What a call costs the gateway in CPU is said beside it: that tells the
 * gateway's own loss from the load's. A loop of the lowest priority that does nothing runs in the place of the backups for
 * comparison: what it costs, anything would that runs on that core. `ENDPOINTS`, `ROWS` (of usage), `ROUNDS` and `SECONDS` make it larger or smaller.
 */
import { rmSync } from 'node:fs'
import { setPriority } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { Child } from '../test/support/child.ts'
import { LOCAL } from './parts/calls.ts'
import { cpuOf, median } from './parts/cpu.ts'
import { fill } from './parts/fill.ts'
import { fillUsageFile } from './parts/fill-usage.ts'
import { load } from './parts/load.ts'
import { longestBlock, LOOP_DELAY } from './parts/loop-block.ts'
import { pinLoad, pinMeasured } from './parts/pin.ts'
import { configFor, Processes } from './parts/processes.ts'

const ENDPOINTS = Number(process.env['ENDPOINTS'] ?? 100_000)
const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const SECONDS = Number(process.env['SECONDS'] ?? 15)
const KEYS = 100

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))

pinLoad()
try {
  setPriority(-15)
} catch {
  console.error('not root: the backups take time from the load, too')
}
/** Calls a second, and microseconds of the gateway's CPU for each. */
interface Round {
  readonly perSecond: number
  readonly cpu: number
}

/** Both of a round, against rounds without. */
type Ratio = Round

const processes = new Processes()
const dir = dirname(processes.dataDir)

/** Keeps the core busy until it is over, wherever nobody else wants it. */
async function idleLoop(isOver: () => boolean): Promise<void> {
  const child = new Child('nice', ['-n', '19', process.execPath, '-e', 'for (;;);'], {
    PATH: process.env['PATH'] ?? '',
  })
  while (!isOver()) await pause(50)
  child.signal('SIGKILL')
  await child.exited
}

/** Takes backups until it is over; what each said. */
async function backups(isOver: () => boolean): Promise<{ ms: number; bytes: number }[]> {
  const made: { ms: number; bytes: number }[] = []
  while (!isOver()) {
    const at = join(dir, `backup-${made.length}`)
    const begin = performance.now()
    const env = { PATH: process.env['PATH'] ?? '' }
    const args = [main, 'backup', at, '--config', dir, '--json']
    const child = new Child('nice', ['-n', '15', process.execPath, ...args], env)
    const { code } = await child.exited
    if (code !== 0) throw new Error(`backup: ${child.stderr}`)
    const { files } = JSON.parse(child.stdout) as { files: { bytes: number }[] }
    made.push({ ms: performance.now() - begin, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) })
  }
  return made
}

try {
  const upstream = await processes.part('upstream')
  const network = 'eth'
  processes.write(configFor(upstream.listen))
  const keys = await fill(processes.dataDir, { endpoints: ENDPOINTS, wanted: KEYS, network })
  const until = Math.floor(Date.now() / 1000)
  const endpointIds = Array.from({ length: 100 }, (_, e) => `ep_other_${e}`)
  const hours = Math.ceil(ROWS / endpointIds.length / 20)
  fillUsageFile(processes.dataDir, [{ accountId: 'acc_other', endpointIds, methods: 20, hours, until }])
  const { pid, listen } = await processes.gateway(configFor(upstream.listen), ['--import', LOOP_DELAY])
  pinMeasured(pid)
  const url = keys.map(key => `http://${listen}/${network}/v1/rpc/${key}`)

  const block = (): Promise<number> => longestBlock(processes, pid)
  /** One load: calls a second, and what one cost the gateway in microseconds of CPU. */
  const round = async (): Promise<Round> => {
    const [begin, cpu] = [performance.now(), cpuOf(pid)]
    const calls = await load({ url, body: LOCAL, posts: 1e9, seconds: SECONDS })
    return { perSecond: (calls * 1000) / (performance.now() - begin), cpu: (cpuOf(pid) - cpu) / calls }
  }

  await round()
  await block()
  const [ratios, loops]: [Ratio[], Ratio[]] = [[], []]
  const [blocks, alone]: [number[], number[]] = [[], []]
  const made: { ms: number; bytes: number }[] = []
  for (let i = 0; i < ROUNDS; i += 1) {
    const before = await round()
    alone.push(await block())
    const state = { isOver: false }
    const taking = backups(() => state.isOver)
    const beside = await round()
    blocks.push(await block())
    state.isOver = true
    const taken = await taking
    made.push(...taken)
    taken.forEach((_, n) => {
      rmSync(join(dir, `backup-${n}`), { recursive: true })
    })
    await pause(1_000)
    const after = await round()
    alone.push(await block())
    ratios.push(against(beside, before, after))
    const spinning = { isOver: false }
    const loop = idleLoop(() => spinning.isOver)
    const besideLoop = await round()
    spinning.isOver = true
    await loop
    loops.push(against(besideLoop, before, after))
    const [speeds, costs] = [[before, beside, after, besideLoop]].flatMap(rounds => [
      rounds.map(each => each.perSecond.toFixed(0)).join(' '),
      rounds.map(each => each.cpu.toFixed(2)).join(' '),
    ])
    const longest = [alone.at(-2)!, blocks.at(-1)!, alone.at(-1)!].map(ms => ms.toFixed(1)).join(' ')
    console.error(
      `before, beside, after, beside a loop: ${speeds} calls/s, ${costs} us of CPU a call; blocks ${longest} ms`,
    )
  }
  console.log(`backups of ${((made[0]?.bytes ?? 0) / 1e6).toFixed(0)} MB (${ENDPOINTS} endpoints, ${ROWS} rows of usage) under full load, ${ROUNDS} rounds
| calls per second with backups one after the other, against none, median (least) | ${inPercent(ratios, 'perSecond', Math.min)} |
| the same with a loop that does nothing in their place, median (least) | ${inPercent(loops, 'perSecond', Math.min)} |
| CPU of the gateway for a call with backups, against none, median (most) | ${inPercent(ratios, 'cpu', Math.max)} |
| the same with the loop, median (most) | ${inPercent(loops, 'cpu', Math.max)} |
| longest block of the loop in a round with them, without, medians | ${median(blocks).toFixed(1)} ms, ${median(alone).toFixed(1)} ms |
| longest of all rounds | ${Math.max(...blocks).toFixed(1)} ms, ${Math.max(...alone).toFixed(1)} ms |
| seconds of a backup, median | ${(median(made.map(({ ms }) => ms)) / 1000).toFixed(1)} |`)
} finally {
  await processes.stop()
}

/** What a round was against those before and behind it. */
function against(round: Round, before: Round, after: Round): Ratio {
  const [perSecond, cpu] = (['perSecond', 'cpu'] as const).map(
    what => round[what] / ((before[what] + after[what]) / 2),
  )
  return { perSecond: perSecond!, cpu: cpu! }
}

/** The median, and the worst. */
function inPercent(
  ratios: readonly Ratio[],
  what: keyof Ratio,
  worst: (...values: number[]) => number,
): string {
  const values = ratios.map(each => 100 * each[what])
  return `${median(values).toFixed(1)} % (${worst(...values).toFixed(1)} %)`
}
