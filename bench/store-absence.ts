/**
 * One absence of PostgreSQL in one piece, ten minutes long: two fleets of two workers side by side under equal load, each with a PostgreSQL of its own,
 * of which one hangs. So both meet the same machine. Says how long calls took in either, how long a change of the account took to be refused,
 * and how soon after the return PostgreSQL had every call. `SECONDS=60 node --import=tsx bench/store-absence.ts` for a short run.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { message, type Access } from '../test/support/access.ts'
import { fewMethods } from '../test/support/few-methods.ts'
import { startFleet, type Fleet } from '../test/support/fleet.ts'
import { steadyLoad, type LoadedCall } from '../test/support/steady-load.ts'
import { Processes } from './parts/processes.ts'

const SECONDS = Number(process.env['SECONDS'] ?? 600)
/** Calls a second of each fleet. */
const PER_SECOND = Number(process.env['PER_SECOND'] ?? 100)
/** Milliseconds between two changes that are asked for, and after the return at most. */
const CHANGE_EVERY = 10_000
const PATIENCE = 120_000

const ends: (() => unknown)[] = []
const t = { teardown: (end: () => unknown) => ends.push(end) }

try {
  const processes = new Processes()
  t.teardown(() => processes.stop())
  const { listen } = await processes.part('upstream')
  const config = {
    networks: { alpha: { chainId: 1 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: `http://${listen}` }],
    methods: fewMethods,
  }
  const [with_, without] = [
    await startFleet(t, config, [{ workers: 2 }]),
    await startFleet(t, config, [{ workers: 2 }]),
  ]
  const fleets = [with_, without] as const
  const before = await Promise.all(fleets.map(async fleet => (await fleet.sums()).total))
  without.postgres.signal('SIGSTOP')
  const end = performance.now() + SECONDS * 1000
  const changes = tryChanges(without.accesses[0]!, end)
  const calls = await Promise.all(fleets.map(fleet => load(fleet, end)))
  const refused = await changes
  without.postgres.signal('SIGCONT')
  const complete = await Promise.all(
    fleets.map((fleet, i) => whenComplete(fleet, before[i]! + calls[i]!.length)),
  )
  console.log('| | calls | p50 ms | p99 ms | longest ms | all in PostgreSQL after |')
  console.log('|---|---|---|---|---|---|')
  for (const [i, name] of ['PostgreSQL answers', `it hangs for ${SECONDS} s`].entries()) {
    const took = calls[i]!.map(call => call.took).sort((a, b) => a - b)
    const figures = [at(took, 0.5), at(took, 0.99), took.at(-1)!].map(ms => ms.toFixed(1))
    console.log(`| ${name} | ${took.length} | ${figures.join(' | ')} | ${complete[i]!.toFixed(1)} s |`)
  }
  console.log(
    `${refused.length} changes were refused with store_unavailable, after ${Math.max(...refused).toFixed(0)} ms at most`,
  )
} finally {
  for (const end of ends.reverse()) await end()
}

/** Calls until then, every one answered. */
async function load({ accesses }: Fleet, end: number): Promise<readonly LoadedCall[]> {
  const body = (n: number): string => message('eth_gasPrice', [], n)
  const calls = await steadyLoad(accesses[0]!, PER_SECOND, body, () => performance.now() >= end)
  const failed = calls.find(({ text }) => !text.includes('"result"'))
  if (failed !== undefined) throw new Error(`a call failed: HTTP ${failed.status} ${failed.text}`)
  return calls
}

/** Milliseconds after which each change was refused. */
async function tryChanges(access: Access, end: number): Promise<readonly number[]> {
  const took: number[] = []
  while (performance.now() + CHANGE_EVERY < end) {
    await pause(CHANGE_EVERY)
    const begin = performance.now()
    const { error } = await access.call('service_createEndpoint', [{ chain: 'alpha' }])
    if (error?.data.reason !== 'store_unavailable') throw new Error(`not refused: ${JSON.stringify(error)}`)
    took.push(performance.now() - begin)
  }
  return took
}

/** Seconds until PostgreSQL holds so many requests, and no more. */
async function whenComplete(fleet: Fleet, requests: number): Promise<number> {
  const begin = performance.now()
  for (;;) {
    const { total, usage } = await fleet.sums()
    const seconds = (performance.now() - begin) / 1000
    if (total > requests || seconds * 1000 > PATIENCE)
      throw new Error(`${total} requests in PostgreSQL, ${requests} were made`)
    if (total === requests && usage === requests) return seconds
    await pause(100)
  }
}

/** The value behind such a part of them. */
function at(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!
}
