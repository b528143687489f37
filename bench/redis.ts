/**
 * What limits over Redis cost a call below them: CPU of a locally answered call with them against without, of one process each. REFERENCE=main.js of
 * another build compares this one without Redis to it too.
 */
import { LOCAL } from './parts/calls.ts'
import { load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'
import { pinLoad } from './parts/pin.ts'
import { configFor, Processes } from './parts/processes.ts'
import { startRedis } from '../test/support/servers.ts'

const { REFERENCE } = process.env
const ends: (() => unknown)[] = []
// Redis has no part of the core of what is measured.
pinLoad()
const { url } = await startRedis({ teardown: end => void ends.push(end) })

async function start(processes: Processes, node: string, settings: string) {
  const files = configFor(node)
  const { pid, listen } = await processes.gateway({
    ...files,
    'gateway.yaml': `${files['gateway.yaml']!}\n${settings}`,
  })
  const calls = `http://${listen}/eth/v1/rpc/${await processes.key('bench')}`
  return { pid, work: () => load({ url: calls, body: LOCAL }) }
}

await overStarts(async (table, processes) => {
  const others = [new Processes(), ...(REFERENCE === undefined ? [] : [new Processes(REFERENCE)])]
  try {
    const { listen } = await processes.part('upstream')
    const without = await start(processes, listen, '')
    const shared = await start(others[0]!, listen, `redis: { url: "${url}" }`)
    await table.compare(
      'locally answered call, with redis',
      { name: 'with redis', ...shared },
      { name: 'without', ...without },
    )
    if (others[1] === undefined) return
    const before = await start(others[1], listen, '')
    await table.compare(
      'locally answered call, without redis',
      { name: 'this build', ...without },
      { name: 'the other build', ...before },
    )
  } finally {
    for (const each of others) await each.stop()
  }
})
for (const end of ends.reverse()) await end()
