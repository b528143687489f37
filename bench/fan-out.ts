/**
 * What a delivered notification costs, and when it comes: 2 000 subscribers of the heads of one network, 20 heads a second, against a bare ws
 * broadcast, and that against one write of the same frame to each connection; with `bench/fan-out.ts ../before/dist/main.js` against another build that does the same in the same minutes.
 */
import { resolve } from 'node:path'
import type { Side } from './parts/compare.ts'
import { median } from './parts/cpu.ts'
import { fill } from './parts/fill.ts'
import { overStarts } from './parts/over-starts.ts'
import { configFor, Processes } from './parts/processes.ts'
import { Subscribers } from './parts/subscribers.ts'

const CLIENTS = Number(process.env['CLIENTS'] ?? 2_000)
/** Heads of a round. */
const HEADS = Number(process.env['HEADS'] ?? 40)
/** Milliseconds between two heads. */
const EVERY = Number(process.env['EVERY'] ?? 50)
/** Keys among which the subscribers are divided: each has its own usage, and each fifty or so an account with its own limits. */
const KEYS = Number(process.env['KEYS'] ?? 1)
const SUBSCRIBE = '{"jsonrpc":"2.0","id":1,"method":"eth_subscribe","params":["newHeads"]}'

const [other] = process.argv.slice(2)

/** Milliseconds from a head to each of those who got it, by whose they are and by round. */
const delays = new Map<string, Float64Array[]>()

function sideOf(name: string, pid: number, node: string, groups: readonly Subscribers[], more = ''): Side {
  const rounds = delays.get(name) ?? []
  delays.set(name, rounds)
  const work = async (): Promise<number> => {
    const coming = Promise.all(groups.map(group => group.next(HEADS)))
    const response = await fetch(`http://${node}/push?heads=${HEADS}&every=${EVERY}${more}`)
    const pushed = (await response.json()) as number[]
    const times = await coming
    const each = times.map(group =>
      group.map((time, i) => time - pushed[Math.floor((i * HEADS) / group.length)]!),
    )
    rounds.push(Float64Array.from(each.flatMap(group => [...group])).sort())
    return CLIENTS * HEADS
  }
  return { name, pid, work }
}

/** A gateway with its own node, and its subscribers. */
async function gatewaySide(
  name: string,
  processes: Processes,
): Promise<{ side: Side; groups: Subscribers[] }> {
  const node = await processes.part('socket-node')
  const files = configFor(node.listen)
  processes.write(files)
  const keys = await fill(processes.dataDir, { endpoints: KEYS, wanted: KEYS, network: 'eth' })
  const { pid, listen } = await processes.gateway(files)
  const groups: Subscribers[] = []
  for (const key of keys)
    groups.push(await Subscribers.open(`ws://${listen}/eth/v1/rpc/${key}`, CLIENTS / KEYS, SUBSCRIBE))
  return { side: sideOf(name, pid, node.listen, groups), groups }
}

await overStarts(async (table, processes) => {
  const ours = await gatewaySide('gateway', processes)
  const others = new Processes(other === undefined ? undefined : resolve(other))
  const title = 'delivered notification'
  try {
    if (other === undefined) {
      const { pid, listen } = await others.part('socket-node')
      const groups = [await Subscribers.open(`ws://${listen}/`, CLIENTS, null)]
      const broadcast = sideOf('bare ws broadcast', pid, listen, groups)
      await table.compare(title, ours.side, broadcast)
      await table.compare('bare ws broadcast', broadcast, sideOf('bare write', pid, listen, groups, '&bare'))
      for (const group of groups) group.close()
    } else {
      const theirs = await gatewaySide('the other build', others)
      await table.compare(title, ours.side, theirs.side)
      for (const group of theirs.groups) group.close()
    }
    for (const group of ours.groups) group.close()
  } finally {
    await others.stop()
  }
})

/** The median over rounds of a percentile of each. */
function percentile(rounds: readonly Float64Array[], part: number): string {
  return `${median(rounds.map(delays => delays[Math.ceil(delays.length * part) - 1]!)).toFixed(1)} ms`
}

console.log('| from the head to the client | median | p99 | last |\n|---|---|---|---|')
for (const [name, rounds] of delays)
  console.log(
    `| ${name} | ${percentile(rounds, 0.5)} | ${percentile(rounds, 0.99)} | ${percentile(rounds, 1)} |`,
  )
