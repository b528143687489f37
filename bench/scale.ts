/**
 * Whether a call costs the same with 10 000 routes (1 000 networks with ten each) and 1 000 000 endpoints as with one route, or one network like
 * those, and as many endpoints as are called: forwarded calls to one of those networks, whose ten routes lead to one upstream. And what it costs
 * when ever other endpoints are called, against calls of one. Probing all routes is told apart: what a question
 * takes is measured at rest, and taken off for as many as were asked meanwhile. `NETWORKS`, `ROUTES` (of a network) and `ENDPOINTS`
 * make it smaller.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { FORWARDED } from './parts/calls.ts'
import { Table } from './parts/compare.ts'
import type { Side } from './parts/compare.ts'
import { cpuOf } from './parts/cpu.ts'
import { ALL_ROUNDS, CALLS } from './parts/effort.ts'
import { fill } from './parts/fill.ts'
import { load } from './parts/load.ts'
import { manyNetworks } from './parts/many-networks.ts'
import { pinLoad, pinMeasured } from './parts/pin.ts'
import { Processes } from './parts/processes.ts'
import type { Started } from './parts/processes.ts'

const NETWORKS = Number(process.env['NETWORKS'] ?? 1_000)
const ROUTES = Number(process.env['ROUTES'] ?? 10)
const ENDPOINTS = Number(process.env['ENDPOINTS'] ?? 1_000_000)
/** Keys that are called in turn: few enough for the key cache, and so many that each is forgotten before its turn comes again. */
const FEW = Math.min(1_000, ENDPOINTS)
const MANY = 200_000
/** Looks at routes that the gateway begins in a second. */
const LOOKS = 400
/** Seconds at rest that are measured. */
const REST = Number(process.env['REST'] ?? 10)
/** A prime, so that steps of as many come to every key. */
const STRIDE = 7919

/** A gateway of some size, whose endpoints are all of network `net0`. */
async function start(
  processes: Processes,
  upstream: string,
  size: { networks: number; routes: number; endpoints: number },
): Promise<Started & { keys: readonly string[] }> {
  const { networks, routes, endpoints } = size
  const keys = await fill(processes.dataDir, { endpoints, wanted: MANY, network: 'net0' })
  return { ...(await processes.gateway(manyNetworks(upstream, { networks, routes }))), keys }
}

/** `count` of the keys, from all over the file and in no order that it has. */
function spread(keys: readonly string[], count: number): string[] {
  const every = Math.max(1, Math.floor(keys.length / count))
  const chosen = keys.filter((_, n) => n % every === 0).slice(0, count)
  return chosen.map((_, n) => chosen[(n * STRIDE) % chosen.length]!)
}

/** A side that takes calls, each with the next of some keys. */
function calledWith({ pid, listen }: Started, keys: readonly string[]): Side {
  const urls = keys.map(key => `http://${listen}/net0/v1/rpc/${key}`)
  let begin = 0
  const work = (): Promise<number> => {
    const next = Array.from(
      { length: Math.min(CALLS, urls.length) },
      (_, n) => urls[(begin + n) % urls.length]!,
    )
    begin += CALLS
    return load({ url: next, body: FORWARDED })
  }
  return { name: 'gateway', pid, work }
}

function inTurn({ length }: readonly string[]): string {
  return length === 1 ? '1 key' : `${length} keys in turn`
}

/** How many questions the gateways have asked the upstream on their own account. */
async function asked(upstream: string): Promise<number> {
  return Number(await (await fetch(`http://${upstream}/`)).text())
}

pinLoad()
const [few, some, many] = [new Processes(), new Processes(), new Processes()]
try {
  const upstream = await few.part('upstream')
  const small = await start(few, upstream.listen, { networks: 1, routes: 1, endpoints: FEW })
  const alike = await start(some, upstream.listen, { networks: 1, routes: ROUTES, endpoints: FEW })
  const size = { networks: NETWORKS, routes: ROUTES, endpoints: ENDPOINTS }
  const large = await start(many, upstream.listen, size)
  const wait = (NETWORKS * ROUTES) / LOOKS + 5
  console.error(`waiting ${wait.toFixed(0)} s, until each route has been looked at`)
  await pause(wait * 1000)
  const [cpu, questions] = [cpuOf(large.pid), await asked(upstream.listen)]
  await pause(REST * 1000)
  const rest = cpuOf(large.pid) - cpu
  const probe = rest / Math.max(1, (await asked(upstream.listen)) - questions)
  const aside = async (): Promise<number> => (await asked(upstream.listen)) * probe
  const all = `${NETWORKS * ROUTES} routes and ${ENDPOINTS} endpoints`
  const table = new Table(({ pid }) => {
    pinMeasured(pid)
  })
  for (const [count, reference, others] of [
    [1, small, 1],
    [1, alike, 1],
    [FEW, small, 1],
    [FEW, small, FEW],
    [FEW, alike, FEW],
    [MANY, small, 1],
  ] as const) {
    const [keys, fewer] = [spread(large.keys, count), spread(reference.keys, others)]
    const routes = reference === small ? 'one route' : `one network of ${ROUTES} routes`
    const theirs = { ...calledWith(reference, fewer), name: `${routes}, ${inTurn(fewer)}` }
    await table.compare(
      `forwarded call among ${all}, ${inTurn(keys)}`,
      { ...calledWith(large, keys), aside },
      theirs,
      ALL_ROUNDS,
    )
  }
  table.print()
  const each = `${(rest / REST / 1000).toFixed(1)} ms of CPU a second at rest, ${probe.toFixed(0)} µs a question`
  console.log(`\nprobing ${NETWORKS * ROUTES} routes: ${each}`)
} finally {
  await many.stop()
  await some.stop()
  await few.stop()
}
