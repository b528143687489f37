/**
 * What traces cost a call: CPU of one with `tracing` against one without, in the same process, which is reloaded between rounds: two processes differ by
 * more than what is measured. Spans go to a collector on the core of the load. REFERENCE=main.js of another build compares this one without
 * `tracing` to it too.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { FORWARDED, LOCAL } from './parts/calls.ts'
import type { Side } from './parts/compare.ts'
import { cpuOfThreads } from './parts/cpu.ts'
import { load } from './parts/load.ts'
import type { Load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'
import { pinLoad } from './parts/pin.ts'
import { configFor, Processes } from './parts/processes.ts'

const { REFERENCE } = process.env
/** Milliseconds until the gateway has seen by itself that the file was written, too. */
const SETTLED = 700

pinLoad()
const collector = createServer((request, response) => {
  request.resume().on('end', () => response.end('{}'))
})
await new Promise<void>(resolve => collector.listen(0, '127.0.0.1', resolve))
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`

/** What is compared with nothing: what is written of traces, and what is called. */
const LINES: readonly (readonly [what: string, settings: string, body: Load['body']])[] = [
  ['forwarded call, sample: 1%', 'sample: 1%', FORWARDED],
  ['locally answered call, sample: 1%', 'sample: 1%', LOCAL],
  ['forwarded call, sample: 1%, keep', 'sample: 1%, keep: { errors: true, slow: 10s }', FORWARDED],
  ['forwarded call, sample: 100%', 'sample: 100%', FORWARDED],
]

/** A gateway, and what makes a side of a comparison of it. */
async function start(processes: Processes, node: string) {
  const files = configFor(node)
  const { pid, listen, admin = '' } = await processes.gateway(files)
  const url = `http://${listen}/eth/v1/rpc/${await processes.key('bench')}`
  let spent = 0
  const use = async (tracing: string): Promise<void> => {
    const before = cpuOfThreads(pid)
    processes.write({ 'gateway.yaml': `${files['gateway.yaml']!}\n${tracing}` })
    await fetch(`http://${admin}/reload`, { method: 'POST' })
    await pause(SETTLED)
    spent += cpuOfThreads(pid) - before
  }
  return (name: string, body: Load['body'], tracing = ''): Side => ({
    name,
    pid,
    aside: () => Promise.resolve(spent),
    work: async () => {
      await use(tracing)
      return load({ url, body })
    },
  })
}

await overStarts(async (table, processes) => {
  const { listen } = await processes.part('upstream')
  const gateway = await start(processes, listen)
  for (const [what, settings, body] of LINES) {
    const tracing = `tracing: { endpoint: "${endpoint}", ${settings} }`
    await table.compare(what, gateway(settings, body, tracing), gateway('without', body))
  }
  if (REFERENCE === undefined) return
  const other = new Processes(REFERENCE)
  try {
    const before = await start(other, listen)
    for (const [what, body] of Object.entries({ forwarded: FORWARDED, 'locally answered': LOCAL }))
      await table.compare(
        `${what} call, without`,
        gateway('this build', body),
        before('the other build', body),
      )
  } finally {
    await other.stop()
  }
})
collector.closeAllConnections()
collector.close()
