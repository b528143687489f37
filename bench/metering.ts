/**
 * What metering costs over 100 endpoints: CPU per call at 10 000 calls a second, where the processor sleeps between the calls, and
 * as fast as they go, where it does not; what it adds to the time of a call; and CPU per call of the real process, whose calls by key
 * are compared with those of the public route, which nobody is charged for.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openUsageDatabase } from '../src/stores/sqlite/usage/database.ts'
import { Ledger } from '../src/stores/sqlite/usage/ledger.ts'
import type { Payer } from '../src/ports/limits.ts'
import { Meter } from '../test/support/meter.ts'
import { LOCAL } from './parts/calls.ts'
import { cpuOfThreads, median } from './parts/cpu.ts'
import { ALL_ROUNDS, CALLS } from './parts/effort.ts'
import { fill } from './parts/fill.ts'
import { load } from './parts/load.ts'
import { Processes, configFor } from './parts/processes.ts'

const PER_MS = 10
/** Milliseconds that a node takes for a call. */
const NODE_MS = 10
const ENDPOINTS = 100

const limits = { perSecond: 1_000_000, burst: 1_000_000 }
const plan = {
  name: 'bench',
  tiers: ['any'],
  rate: limits,
  maxBatch: 100,
  alerts: null,
  managementKeys: 'all' as const,
  quota: { requests: 1_000_000_000, every: 'month' as const },
  ws: { connections: 1, subscriptions: 1 },
}
const payers = Array.from({ length: ENDPOINTS }, (_, n): Payer => ({
  account: { id: `acc_${n % 20}`, plan: 'free', createdAt: 0 },
  endpoint: { id: `ep_${n}`, network: 'eth', dailyLimit: null, limitedSince: 0 },
  plan,
  endpointRate: null,
}))
const methods = ['eth_call', 'eth_getLogs', 'eth_blockNumber', 'eth_getBalance']

/** One call from its begin to the moment its reply may leave; `node` resolves when a node has answered. */
type Call = (n: number, node: () => Promise<void>) => Promise<void>

interface Run {
  readonly cpuUs: number
  readonly waits: readonly number[]
}

/** Waits after each ten calls, until there are to be more of them. */
interface Pace {
  readonly seconds: number
  readonly node: () => Promise<void>
  readonly next: (sent: number, since: number) => Promise<void>
}

const turn = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

/** Ten calls a millisecond, as they would come from sockets. */
const even: Pace = {
  seconds: 1,
  node: () => pause(NODE_MS),
  next: async (sent, since) => {
    while (sent > (performance.now() - since) * PER_MS) await pause(1)
  },
}

/** The next ten in the next turn of the loop. */
const atOnce: Pace = { seconds: 1, node: turn, next: turn }

async function run(call: Call, { seconds, node, next }: Pace): Promise<Run> {
  const waits: number[] = []
  const begin = performance.now()
  const cpu = process.cpuUsage()
  const pending = new Set<Promise<void>>()
  let sent = 0
  while (performance.now() - begin < seconds * 1000) {
    for (let i = 0; i < PER_MS; i += 1, sent += 1) {
      const at = performance.now()
      const over = call(sent, node).then(() => {
        waits.push(performance.now() - at)
        pending.delete(over)
      })
      pending.add(over)
    }
    await next(sent, begin)
  }
  await Promise.all(pending)
  const { user, system } = process.cpuUsage(cpu)
  return { cpuUs: (user + system) / sent, waits }
}

const unmetered: Call = async (_, node) => {
  await node()
}

function metered(meter: Meter): Call {
  return async (n, node) => {
    const admission = meter.admit(payers[n % ENDPOINTS]!, methods[n % methods.length]!, 1, Date.now())
    if ('reason' in admission) throw new Error(admission.reason)
    await node()
    // As the pipeline does it: most charges are on disk before their node has answered.
    const committed = meter.committed(admission)
    if (committed !== true && !(await committed)) throw new Error('a charge was not recorded')
    meter.settle(admission, { error: false, bytesOut: 200, upstreamMs: 1 })
  }
}

/** What metering adds: medians of short rounds, each against the same calls without a meter. */
async function added(meter: Meter, pace: Pace): Promise<{ readonly cpuUs: number; readonly p99: number }> {
  const rounds: { cpuUs: number; p99: number }[] = []
  for (let round = 0; round <= ALL_ROUNDS; round += 1) {
    const bare = await run(unmetered, pace)
    const full = await run(metered(meter), pace)
    if (round > 0) rounds.push({ cpuUs: full.cpuUs - bare.cpuUs, p99: p99(full.waits) - p99(bare.waits) })
  }
  return { cpuUs: median(rounds.map(each => each.cpuUs)), p99: median(rounds.map(each => each.p99)) }
}

/** The real process with `ENDPOINTS` keys and a public route, both without limits. */
async function inProcess(): Promise<{ readonly cpuUs: number; readonly perSecond: number }> {
  const processes = new Processes()
  try {
    const upstream = await processes.part('upstream')
    const network = 'eth'
    const keys = await fill(processes.dataDir, { endpoints: ENDPOINTS, wanted: ENDPOINTS, network })
    const { pid, listen } = await processes.gateway(configFor(upstream.listen))
    const urlOf = (key: string): string => `http://${listen}/${network}/v1/rpc/${key}`
    const cpuOfCalls = async (url: string | string[]): Promise<number> => {
      const before = cpuOfThreads(pid)
      const calls = await load({ url, body: LOCAL })
      return (cpuOfThreads(pid) - before) / calls
    }
    const rounds: number[] = []
    let [calls, ms] = [0, 0]
    for (let round = 0; round <= ALL_ROUNDS; round += 1) {
      const begin = performance.now()
      const metered = await cpuOfCalls(keys.map(urlOf))
      ms += performance.now() - begin
      calls += CALLS
      const free = await cpuOfCalls(urlOf('public'))
      if (round > 0) rounds.push(metered - free)
    }
    return { cpuUs: median(rounds), perSecond: (calls / ms) * 1000 }
  } finally {
    await processes.stop()
  }
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)]!
}

const dir = mkdtempSync(join(tmpdir(), 'tollgate-metering-'))
const fail = (error: Error): void => {
  throw error
}
const events = {
  committed: () => undefined,
  recovered: () => undefined,
  failed: fail,
  lost: fail,
  delayed: (_: unknown, error: Error) => {
    fail(error)
  },
}
const ledger = new Ledger(openUsageDatabase(dir), events)
try {
  const meter = new Meter(ledger)
  const paced = await added(meter, even)
  const dense = await added(meter, atOnce)
  const whole = await inProcess()
  console.log(`metering over ${ENDPOINTS} endpoints, medians of ${ALL_ROUNDS} rounds, against the same calls without a meter
| CPU per call at ${PER_MS * 1000} calls/s | ${paced.cpuUs.toFixed(2)} µs |
| CPU per call, as fast as they go | ${dense.cpuUs.toFixed(2)} µs |
| CPU per locally answered call of the process, at ${whole.perSecond.toFixed(0)} calls/s | ${whole.cpuUs.toFixed(2)} µs |
| added to the 99th percentile of ${NODE_MS} ms calls at ${PER_MS * 1000} calls/s | ${paced.p99.toFixed(2)} ms |`)
} finally {
  ledger.close()
  rmSync(dir, { recursive: true, force: true })
}
