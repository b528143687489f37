/**
 * What traces cost a call: CPU of one with `tracing` against one without, of one process each, which export to a collector on the core of the load.
 * REFERENCE=main.js of another build compares this one without `tracing` to it too.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { FORWARDED, LOCAL } from './parts/calls.ts'
import { load } from './parts/load.ts'
import type { Load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'
import { pinLoad } from './parts/pin.ts'
import { configFor, Processes } from './parts/processes.ts'

const { REFERENCE } = process.env

pinLoad()
const collector = createServer((request, response) => {
  request.resume().on('end', () => response.end('{}'))
})
await new Promise<void>(resolve => collector.listen(0, '127.0.0.1', resolve))
const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`

/** What is written of traces, by the name of its line. */
const SETTINGS: Readonly<Record<string, string>> = {
  'sample: 1%': `tracing: { endpoint: "${endpoint}", sample: 1% }`,
  'sample: 1%, keep': `tracing: { endpoint: "${endpoint}", sample: 1%, keep: { errors: true, slow: 10s } }`,
  'sample: 100%': `tracing: { endpoint: "${endpoint}", sample: 100% }`,
}

async function start(processes: Processes, node: string, settings: string) {
  const files = configFor(node)
  const { pid, listen } = await processes.gateway({
    ...files,
    'gateway.yaml': `${files['gateway.yaml']!}\n${settings}`,
  })
  const url = `http://${listen}/eth/v1/rpc/${await processes.key('bench')}`
  return (body: Load['body']) => ({ pid, work: () => load({ url, body }) })
}

await overStarts(async (table, processes) => {
  const { listen } = await processes.part('upstream')
  const others: Processes[] = []
  const another = (main?: string): Processes => {
    const made = new Processes(main)
    others.push(made)
    return made
  }
  try {
    const without = await start(processes, listen, '')
    const reference = (body: Load['body']) => ({ name: 'without', ...without(body) })
    for (const [name, settings] of Object.entries(SETTINGS)) {
      const traced = await start(another(), listen, settings)
      await table.compare(`forwarded call, ${name}`, { name, ...traced(FORWARDED) }, reference(FORWARDED))
      if (name === 'sample: 1%')
        await table.compare(`locally answered call, ${name}`, { name, ...traced(LOCAL) }, reference(LOCAL))
    }
    if (REFERENCE === undefined) return
    const before = await start(another(REFERENCE), listen, '')
    for (const [what, body] of Object.entries({ forwarded: FORWARDED, 'locally answered': LOCAL }))
      await table.compare(
        `${what} call, without`,
        { name: 'this build', ...without(body) },
        { name: 'the other build', ...before(body) },
      )
  } finally {
    for (const each of others) await each.stop()
  }
})
collector.closeAllConnections()
collector.close()
