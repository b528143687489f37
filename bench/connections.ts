/**
 * CPU per call of a relay with the gateway's connections, as a ratio against the same relay with undici's pool:
 *
 *     node --import=tsx bench/connections.ts
 */
import { FORWARDED } from './parts/calls.ts'
import { load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'

await overStarts(async (table, processes) => {
  const upstream = await processes.part('upstream')
  const UPSTREAM = `http://${upstream.listen}`
  const own = await processes.part('relay', { UPSTREAM, OWN_CONNECTIONS: '1' })
  const pool = await processes.part('relay', { UPSTREAM })
  for (const connections of [32, 128]) {
    const side = (name: string, { pid, listen }: typeof own) => ({
      name,
      pid,
      work: () => load({ url: `http://${listen}/`, body: FORWARDED, connections }),
    })
    await table.compare(`relayed call, ${connections} at a time`, side('own', own), side('pool', pool))
  }
})
