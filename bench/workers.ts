/**
 * What several workers bring, and what they cost: calls a second with one worker, with two and with one for each core, and CPU per call with two
 * against one, of all processes of the gateway together.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { FORWARDED, LOCAL, REFUSED } from './parts/calls.ts'
import { median } from './parts/cpu.ts'
import { CALLS, ROUNDS } from './parts/effort.ts'
import { load } from './parts/load.ts'
import type { Load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'
import { configFor, Processes } from './parts/processes.ts'

const works: readonly (readonly [title: string, work: Omit<Load, 'url'>])[] = [
  ['forwarded call', { body: FORWARDED }],
  ['locally answered call', { body: LOCAL }],
  ['refused call', { body: REFUSED, refused: true }],
]

/** A gateway with some workers in front of some nodes. */
interface Crew {
  readonly url: string
  readonly pid: number
  /** Its keeper and its workers. */
  readonly others: readonly number[]
}

async function start(processes: Processes, workers: number, nodes: readonly string[]): Promise<Crew> {
  const files = configFor(nodes[0]!)
  const routes = nodes.map((node, i) => `{ id: r${i}, network: eth, http: "http://${node}" }`)
  const { pid, listen } = await processes.gateway({
    ...files,
    'routes.yaml': `routes: [${routes.join(', ')}]`,
    'gateway.yaml': `${files['gateway.yaml']!}\nworkers: ${workers}`,
  })
  const key = await processes.key('bench')
  return { url: `http://${listen}/eth/v1/rpc/${key}`, pid, others: childrenOf(pid) }
}

/** The processes that a process has started (Linux). */
function childrenOf(pid: number): number[] {
  const all = readdirSync(`/proc/${pid}/task`).map(thread =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8'),
  )
  return all.join(' ').split(/\s+/).filter(Boolean).map(Number)
}

/** Calls a second, with a load and a node for each worker, on whatever cores there are. */
async function throughput(workers: number): Promise<readonly string[]> {
  const processes = new Processes()
  try {
    const nodes = await Promise.all(Array.from({ length: workers }, () => processes.part('upstream')))
    const { url } = await start(
      processes,
      workers,
      nodes.map(({ listen }) => listen),
    )
    const cells: string[] = []
    for (const [, work] of works) {
      const round = async (): Promise<number> => {
        const begin = performance.now()
        const sent = await Promise.all(Array.from({ length: workers }, () => load({ url, ...work })))
        return (sent.reduce((sum, each) => sum + each) * 1000) / (performance.now() - begin)
      }
      await round()
      const rates: number[] = []
      for (let i = 0; i < ROUNDS; i += 1) rates.push(await round())
      cells.push(String(Math.round(median(rates))))
    }
    return cells
  } finally {
    await processes.stop()
  }
}

console.log(
  `calls a second on ${availableParallelism()} cores, which the load and its nodes share (${CALLS} calls a round)`,
)
console.log(`| workers | ${works.map(([title]) => title).join(' | ')} |\n|---|${'---|'.repeat(works.length)}`)
for (const workers of new Set([1, 2, availableParallelism()]))
  console.log(`| ${workers} | ${(await throughput(workers)).join(' | ')} |`)

await overStarts(async (table, processes) => {
  const second = new Processes()
  try {
    const { listen } = await processes.part('upstream')
    const [two, one] = [await start(processes, 2, [listen]), await start(second, 1, [listen])]
    // Both would share one core here, which costs each of them more: one serves all calls, as on a core of its own.
    const idle = two.others.at(-1)!
    process.kill(idle, 'SIGSTOP')
    for (const [title, work] of works) {
      const [ours, theirs] = [two, one].map(({ url, pid, others }, i) => ({
        name: i === 0 ? 'a worker' : 'one process',
        pid,
        others,
        work: () => load({ url, ...work }),
      }))
      await table.compare(title, ours!, theirs!)
    }
    process.kill(idle, 'SIGCONT')
  } finally {
    await second.stop()
  }
})
