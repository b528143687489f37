/** What metering costs: CPU per call at 10 000 calls a second over 100 endpoints, and the time until a charge is on disk. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { openUsageDatabase } from '../src/usage/database.ts'
import { Ledger } from '../src/usage/ledger.ts'
import { Meter } from '../src/usage/meter.ts'
import type { Payer } from '../src/usage/meter.ts'
import { median } from './parts/cpu.ts'

const ROUNDS = 5
const SECONDS = 3
const PER_MS = 10
const ENDPOINTS = 100

const limits = { perSecond: 1_000_000, burst: 1_000_000 }
const plan = {
  ...{ name: 'bench', tiers: ['any'], rate: limits, maxBatch: 100 },
  quota: { requests: 1_000_000_000, every: 'month' as const },
  ws: { connections: 1, subscriptions: 1 },
}
const payers = Array.from({ length: ENDPOINTS }, (_, n): Payer => ({
  account: { id: `acc_${n % 20}`, createdAt: 0 },
  endpoint: { id: `ep_${n}`, network: 'eth' },
  ...{ plan, endpointRate: null },
}))
const methods = ['eth_call', 'eth_getLogs', 'eth_blockNumber', 'eth_getBalance']

/** What one call does with the meter; returns whether its charge is on disk. */
type Call = (n: number) => Promise<boolean>

/** Calls come ten a millisecond, as they would from sockets; each takes a turn to be answered. */
async function run(call: Call): Promise<{ readonly cpuUs: number; readonly waits: number[] }> {
  const waits: number[] = []
  const begin = performance.now()
  const cpu = process.cpuUsage()
  const pending = new Set<Promise<void>>()
  let sent = 0
  while (performance.now() - begin < SECONDS * 1000) {
    const due = Math.floor((performance.now() - begin) * PER_MS)
    for (; sent < due; sent += 1) {
      const at = performance.now()
      const over = call(sent).then(() => {
        waits.push(performance.now() - at)
        pending.delete(over)
      })
      pending.add(over)
    }
    await pause(1)
  }
  await Promise.all(pending)
  const { user, system } = process.cpuUsage(cpu)
  return { cpuUs: (user + system) / sent, waits }
}

const nothing: Call = async () => {
  await new Promise(setImmediate)
  return true
}

function metered(meter: Meter): Call {
  return async n => {
    const admission = meter.admit(payers[n % ENDPOINTS]!, methods[n % methods.length]!, 1, Date.now())
    if ('reason' in admission) throw new Error(admission.reason)
    await new Promise(setImmediate)
    const committed = await meter.committed(admission)
    meter.settle(admission, { error: false, bytesOut: 200, upstreamMs: 1 })
    return committed
  }
}

function p99(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.99)]!
}

const dir = mkdtempSync(join(tmpdir(), 'tollgate-metering-'))
const events = {
  committed: () => undefined,
  failed: (error: Error) => {
    throw error
  },
}
const ledger = new Ledger(openUsageDatabase(dir), events)
try {
  const meter = new Meter(ledger)
  const [cost, added]: [number[], number[]] = [[], []]
  for (let round = 0; round <= ROUNDS; round += 1) {
    const bare = await run(nothing)
    const full = await run(metered(meter))
    if (round === 0) continue
    cost.push(full.cpuUs - bare.cpuUs)
    added.push(p99(full.waits) - p99(bare.waits))
  }
  console.log(
    `metering at ${PER_MS * 1000} calls/s over ${ENDPOINTS} endpoints, medians of ${ROUNDS} rounds of ${SECONDS} s, against the same without a meter`,
  )
  console.log(
    `| CPU per call | ${median(cost).toFixed(2)} µs |\n| added to the 99th percentile | ${median(added).toFixed(2)} ms |`,
  )
} finally {
  ledger.close()
  rmSync(dir, { recursive: true, force: true })
}
