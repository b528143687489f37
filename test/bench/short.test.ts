import { fileURLToPath } from 'node:url'
import t from 'tap'
import { Child, cleanEnvironment } from '../support/child.ts'
import { wrkIsHere } from '../../bench/parts/wrk.ts'
import { memoryIsVisible } from '../support/memory.ts'

/** A line of the table that `Table` prints: what, ours, theirs, ratio. So few calls may take no CPU that shows. */
const LINE = /^\| [^|]+ \| \S+ µs \| [^|]+ µs \| \S+ \|$/gm

const SHORT = {
  STARTS: '1',
  ROUNDS: '1',
  CALLS: '200',
  NETWORKS: '5',
  ROUTES: '2',
  ENDPOINTS: '2000',
  REST: '0.5',
}

/** Each benchmark with its arguments, what it has to print, and how often. */
const benches: readonly (readonly [command: string, lines: RegExp, count: number, env?: object])[] = [
  ['run', LINE, 6],
  ['run', LINE, 6, { LOAD: 'node' }],
  ['half-load', /^\| p(?:50|99) \|(?: \S+ ms \|){2} \S+ \|$/gm, 2, { SECONDS: '0.3' }],
  ['socket-calls', LINE, 4],
  ['sharing', LINE, 2],
  [
    'cache',
    /^\| (?:[^|]+ \| \S+ µs \| [^|]+ µs \| \S+|(?:64 MiB|none) \|(?: [^|]+ \|){5} \d+ MiB) \|$/gm,
    5,
    { FILL: '200', KEYS: '200', PACE: '400' },
  ],
  ['tracing', LINE, 4],
  ['flights', /^\| in .+ \| \S+ µs \|$/gm, 2],
  ['scale', LINE, 6],
  ['start', /^\| [^|]+ \| \d+ ms \| \d+ ms \| (?:–|\d+ MiB) \|$/gm, 7, { IDLE: '0' }],
  ['builds dist/main.js', LINE, 6],
  ['http-server', LINE, 3],
  ['workers', LINE, 3],
  ['memory 0.05', /^\| slope, a minute \| \S+ \|$/gm, 1],
]

// Most of each is waiting for processes.
t.jobs = 3
for (const [command, lines, count, env = {}] of benches) {
  const [name, ...args] = command.split(' ') as [string, ...string[]]
  const isTimed = name === 'half-load'
  const skip = !memoryIsVisible
    ? 'benchmarks read /proc'
    : isTimed && !wrkIsHere
      ? 'wrk is not installed'
      : false
  t.test(`bench/${name}.ts ${JSON.stringify(env)} runs in a short form`, { skip }, async t => {
    const file = fileURLToPath(new URL(`../../bench/${name}.ts`, import.meta.url))
    const bench = new Child(
      process.execPath,
      ['--import=tsx', file, ...args],
      cleanEnvironment({ ...SHORT, ...env }),
    )
    t.strictSame(await bench.exited, { code: 0, signal: null }, bench.stderr)
    t.equal([...bench.stdout.matchAll(lines)].length, count, bench.stdout)
  })
}
