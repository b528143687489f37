/**
 * How long the loop of the real process is held up by the housekeeping of usage: `ROWS` rows of usage of 10 000 endpoints, and `CALLS` calls a
 * second, each by another endpoint than the last ones, so that as many rows are written each second. It tells the longest turn of the loop at
 * rest, which is what else this machine does, during calls with their folds and checkpoints, while pages of usage are read besides, and
 * while the large file is checked. It takes under two minutes, most of them to build the file; with ROWS=10000000 some more.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { DatabaseSync } from '../src/stores/sqlite/driver.ts'
import { get } from '../test/support/http.ts'
import type { FilledAccount } from '../test/support/usage-rows.ts'
import { LOCAL } from './parts/calls.ts'
import { fill } from './parts/fill.ts'
import { fillUsageFile } from './parts/fill-usage.ts'
import { Processes, configFor } from './parts/processes.ts'

const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
const CALLS = Number(process.env['CALLS'] ?? 1_000)
const SECONDS = Number(process.env['SECONDS'] ?? 12)
const [ENDPOINTS, METHODS, CONNECTIONS] = [10_000, 10, 50]
const DAY = 86_400
/** Milliseconds that the metric counts besides, between two of its looks at the loop. */
const RESOLUTION = 10

const processes = new Processes()
try {
  const upstream = await processes.part('upstream')
  mkdirSync(processes.dataDir, { recursive: true })
  const begin = performance.now()
  const [network, wanted] = ['eth', ENDPOINTS] as const
  const keys = await fill(processes.dataDir, { endpoints: ENDPOINTS, wanted, network })
  fillUsageFile(processes.dataDir, accounts())
  console.log(`${ROWS} rows were written in ${since(begin)} s`)
  const opening = performance.now()
  const { pid, listen, admin } = await processes.gateway(configFor(upstream.listen))
  console.log(`ready after ${since(opening)} s`)
  const pool = new Pool(`http://${listen}`, { connections: CONNECTIONS, pipelining: 1 })
  let sent = 0
  const post = async (key: string, body: string): Promise<string> => {
    const headers = { 'content-type': 'application/json' }
    const reply = await pool.request({ path: `/${network}/v1/rpc/${key}`, method: 'POST', headers, body })
    return reply.body.text()
  }
  const next = (): string => keys[(sent++ * 7_919) % keys.length]!

  const isChecked = (): boolean => processes.printed(pid).includes('"the file is sound"')
  if (processes.printed(pid).includes('"a large file is checked')) {
    const begin = performance.now()
    // What the first calls of a process cost is not asked for here.
    await calls(after(1))
    await during('calls, while the file is checked', isChecked, calls)
    console.log(`the check ended ${since(begin)} s after the start`)
  }
  await during('at rest', after(SECONDS / 2), () => Promise.resolve())
  await during('calls', after(SECONDS), calls)
  await during('calls, and pages of usage', after(SECONDS), async isOver => {
    await Promise.all([calls(isOver), pages(isOver)])
  })
  await pool.close()

  /** At an even pace, whatever is still under way. */
  async function calls(isOver: () => boolean): Promise<void> {
    const begin = performance.now()
    const underWay = new Set<Promise<void>>()
    let count = 0
    while (!isOver()) {
      for (; count < ((performance.now() - begin) * CALLS) / 1000; count += 1) {
        const call = post(next(), LOCAL).then(text => {
          if (text.includes('"error"')) throw new Error(text.slice(0, 300))
          underWay.delete(call)
        })
        underWay.add(call)
      }
      await pause(1)
    }
    await Promise.all(underWay)
  }

  /** Two accounts at a time. */
  async function pages(isOver: () => boolean): Promise<void> {
    const to = Math.floor(Date.now() / 1000)
    const params = [{ by: 'hour', from: to - 31 * DAY, to, detail: true }]
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'service_usage', params })
    await Promise.all(
      [1, 2].map(async () => {
        while (!isOver()) await post(next(), body)
      }),
    )
  }

  async function during(
    name: string,
    isOver: () => boolean,
    work: (isOver: () => boolean) => Promise<void>,
  ): Promise<void> {
    // Its figures are those since the last look.
    await lag()
    await work(isOver)
    while (!isOver()) await pause(50)
    const [longest, at99] = await lag()
    console.log(`| ${name} | longest turn of the loop ${longest} ms | at 99 % ${at99} ms |`)
  }

  async function lag(): Promise<readonly string[]> {
    const { text } = await get(`http://${admin}/metrics`)
    return ['max', 'p99'].map(name => {
      const [, value] = new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)$`, 'm').exec(text)!
      return Math.max(0, Number(value) * 1000 - RESOLUTION).toFixed(1)
    })
  }
} finally {
  await processes.stop()
}

/** Every endpoint has all methods in as many of the last hours as it takes. */
function accounts(): FilledAccount[] {
  const database = new DatabaseSync(join(processes.dataDir, 'accounts.db'), { readOnly: true })
  const endpoints = database.prepare('SELECT id, account_id AS accountId FROM endpoint ORDER BY id').all()
  database.close()
  const until = Math.floor(Date.now() / 1000)
  const rest = { methods: METHODS, hours: Math.ceil(ROWS / ENDPOINTS / METHODS), until }
  return (endpoints as { id: string; accountId: string }[]).map(({ id, accountId }) => ({
    accountId,
    endpointIds: [id],
    ...rest,
  }))
}

function since(begin: number): string {
  return ((performance.now() - begin) / 1000).toFixed(1)
}

function after(seconds: number): () => boolean {
  const end = performance.now() + seconds * 1000
  return () => performance.now() >= end
}
