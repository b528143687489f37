/**
 * What reporting usage to PostgreSQL costs: 10 000 cells a second (an endpoint and method of an hour each), reported every second, and the CPU that
 * PostgreSQL's processes and ours take for each; and for how long a report holds the event loop. Goal: at most a quarter of a core of PostgreSQL.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { connectTo, Machine } from '../test/support/fleet-ledger.ts'
import { startPostgres } from '../test/support/servers.ts'
import { tempDir } from '../test/support/temp-dir.ts'

const SECONDS = Number(process.env['SECONDS'] ?? 20)
const ENDPOINTS = 2_000
const METHODS = 5
/** Ticks of /proc a second. */
const HZ = 100

const ends: (() => unknown)[] = []
const t = { teardown: (end: () => unknown) => ends.push(end) }

try {
  const server = await startPostgres(t)
  const postgres = await connectTo(t, server.url)
  const alone = await run(new Machine(await tempDir(t), postgres), false, server.pid)
  const machine = new Machine(await tempDir(t), postgres)
  const reporting = await run(machine, true, server.pid)
  const [{ rows }] = (await postgres.query<{ rows: number }>('SELECT count(*) AS rows FROM usage')) as [
    { rows: number },
  ]
  const cells = ENDPOINTS * METHODS * SECONDS
  const us = (seconds: number): string => ((seconds * 1e6) / cells).toFixed(1)
  console.log(
    `${cells} cells in ${SECONDS} s, ${rows} rows; longest report ${reporting.longest.toFixed(0)} ms`,
  )
  console.log(
    `PostgreSQL: ${us(reporting.server)} µs a cell, ${((100 * reporting.server) / SECONDS).toFixed(1)} % of a core`,
  )
  console.log(
    `this process: ${us(reporting.own - alone.own)} µs a cell more than without reports (${us(alone.own)} µs, charging and folding)`,
  )
  console.log(
    `event loop held: p99 ${reporting.p99.toFixed(1)} ms, most ${reporting.most.toFixed(1)} ms; without reports ${alone.p99.toFixed(1)} and ${alone.most.toFixed(1)} ms`,
  )
} finally {
  for (const end of ends.reverse()) await end()
}

/** Charges each cell once a second, evenly, and reports once a second. */
async function run(machine: Machine, isReported: boolean, pid: number) {
  const now = Date.now()
  // By hand from now on, or not at all.
  await machine.spool.close()
  // Rows are there, as in the middle of an hour.
  for (let cell = 0; cell < ENDPOINTS * METHODS; cell += 1) charge(machine, cell, now)
  await machine.ledger.folded()
  if (isReported) await machine.spool.flush()
  const [own, server] = [process.cpuUsage(), cpuOf(pid)]
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  let longest = 0
  for (let second = 0; second < SECONDS; second += 1) {
    const begin = performance.now()
    let sent: Promise<void> = Promise.resolve()
    for (let part = 0; part < 100; part += 1) {
      for (let i = 0; i < (ENDPOINTS * METHODS) / 100; i += 1)
        charge(machine, part * ((ENDPOINTS * METHODS) / 100) + i, now)
      if (part === 50 && isReported) {
        const at = performance.now()
        sent = machine.spool.flush().then(() => {
          longest = Math.max(longest, performance.now() - at)
        })
      }
      await pause(Math.max(0, begin + (part + 1) * 10 - performance.now()))
    }
    await sent
  }
  delay.disable()
  const { user, system } = process.cpuUsage(own)
  const spent = { own: (user + system) / 1e6, server: cpuOf(pid) - server }
  await machine.stop(false)
  return { ...spent, longest, p99: delay.percentile(99) / 1e6, most: delay.max / 1e6 }
}

function charge(machine: Machine, cell: number, now: number): void {
  const endpoint = Math.floor(cell / METHODS)
  machine.charge({
    account: `acc_${endpoint % 500}`,
    endpoint: `ep_${endpoint}`,
    method: `eth_method_${cell % METHODS}`,
    now,
  })
}

/** Seconds that a process and its children have taken. */
function cpuOf(pid: number): number {
  const own = statOf(pid)
  const children = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(name => statOf(Number(name)))
    .filter(stat => stat?.parent === pid)
  return [own, ...children].reduce((sum, stat) => sum + (stat?.ticks ?? 0), own?.gone ?? 0) / HZ
}

function statOf(
  pid: number,
): { readonly parent: number; readonly ticks: number; readonly gone: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    return { parent: fields[1]!, ticks: fields[11]! + fields[12]!, gone: fields[13]! + fields[14]! }
  } catch {
    return null
  }
}
