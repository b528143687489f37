/**
 * How long calls take while PostgreSQL, or Redis, hangs, against while both answer: rounds of each one after the other, so that all meet the same
 * machine. Ten minutes in all; `SECONDS=60 node --import=tsx bench/store-away.ts` for a short run. Goal: p99 at most 1.1 times as long.
 */
import { Processes } from './parts/processes.ts'
import { message } from '../test/support/access.ts'
import { startFleet } from '../test/support/fleet.ts'
import { fewMethods } from '../test/support/few-methods.ts'
import { startPostgres, startRedis } from '../test/support/servers.ts'
import { steadyLoad } from '../test/support/steady-load.ts'

/** Of all rounds together, and of one. */
const SECONDS = Number(process.env['SECONDS'] ?? 600)
const ROUND = Number(process.env['ROUND'] ?? 5)
/** Calls a second: few enough to leave both cores idle most of the time. */
const PER_SECOND = Number(process.env['PER_SECOND'] ?? 200)

const ends: (() => unknown)[] = []
const t = { teardown: (end: () => unknown) => ends.push(end) }

/** Milliseconds that each call took, in the order of their length. */
type Took = readonly number[]

try {
  const [postgres, redis] = await Promise.all([startPostgres(t), startRedis(t)])
  const processes = new Processes()
  t.teardown(() => processes.stop())
  const { listen } = await processes.part('upstream')
  const { accesses } = await startFleet(
    t,
    {
      networks: { alpha: { chainId: 1 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: `http://${listen}` }],
      methods: fewMethods,
      gateway: { redis: { url: redis.url } },
    },
    [{ workers: 2 }],
    { server: postgres },
  )
  const states = { 'both answer': null, 'PostgreSQL hangs': postgres, 'Redis hangs': redis }
  const rounds = new Map(Object.keys(states).map(name => [name, [] as Took[]]))
  const round = async (): Promise<Took> => {
    const begin = performance.now()
    const body = (n: number): string => message('eth_gasPrice', [], n)
    const isOver = (): boolean => performance.now() - begin >= ROUND * 1000
    const calls = await steadyLoad(accesses[0]!, PER_SECOND, body, isOver)
    const failed = calls.find(({ text }) => !text.includes('"result"'))
    if (failed !== undefined) throw new Error(`a call failed: HTTP ${failed.status} ${failed.text}`)
    return calls.map(({ took }) => took).sort((a, b) => a - b)
  }
  await round()
  for (let i = 0; i < Math.max(1, SECONDS / ROUND / rounds.size); i += 1)
    for (const [name, server] of Object.entries(states)) {
      server?.signal('SIGSTOP')
      try {
        rounds.get(name)!.push(await round())
      } finally {
        server?.signal('SIGCONT')
      }
    }
  const [base] = rounds.values()
  console.log('| | calls | p50 ms | p99 ms | longest ms | p99 against both answering, median round |')
  console.log('|---|---|---|---|---|---|')
  for (const [name, own] of rounds) {
    const all = own.flat().sort((a, b) => a - b)
    const ratios = own.map((took, i) => at(took, 0.99) / at(base![i]!, 0.99)).sort((a, b) => a - b)
    const figures = [at(all, 0.5), at(all, 0.99), all.at(-1)!].map(ms => ms.toFixed(1))
    console.log(`| ${name} | ${all.length} | ${figures.join(' | ')} | ${at(ratios, 0.5).toFixed(2)} |`)
  }
} finally {
  for (const end of ends.reverse()) await end()
}

/** The value behind such a part of them. */
function at(sorted: Took, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
}
