/**
 * CPU per call of this build, as a ratio against another build that does the same work in the same minutes:
 * `node --import=tsx bench/builds.ts ../before/dist/main.js`. Gateways have a core of their own, the load and its node another.
 */
import { resolve } from 'node:path'
import { FORWARDED, inBatches, LOCAL, REFUSED } from './parts/calls.ts'
import { CALLS } from './parts/effort.ts'
import { load } from './parts/load.ts'
import type { Load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'
import { configFor, Processes } from './parts/processes.ts'
import { exchange, openAll } from './parts/socket-load.ts'

const [other] = process.argv.slice(2)
if (other === undefined) throw new Error('usage: bench/builds.ts <dist/main.js of the other build>')

const BATCH = 100

/** What each build is sent. */
const works: readonly (readonly [title: string, work: Omit<Load, 'url'>, calls?: number])[] = [
  ['forwarded call', { body: FORWARDED }],
  ['locally answered call', { body: LOCAL }],
  ['refused call', { body: REFUSED, refused: true }],
  [
    `forwarded call in a batch of ${BATCH}`,
    {
      body: inBatches(BATCH),
      posts: Math.ceil(CALLS / BATCH),
      connections: 4,
    },
    BATCH,
  ],
]

await overStarts(async (table, processes) => {
  const upstream = await processes.part('upstream')
  const others = new Processes(resolve(other))
  try {
    const sides = await Promise.all(
      [processes, others].map(async (each, i) => {
        const { pid, listen } = await each.gateway(configFor(upstream.listen))
        const url = `http://${listen}/eth/v1/rpc/${await each.key('bench')}`
        const sockets = await openAll(url.replace('http', 'ws'))
        return { name: i === 0 ? 'this build' : 'the other', pid, url, sockets }
      }),
    )
    for (const [title, work, calls = 1] of works) {
      const [ours, theirs] = sides.map(({ name, pid, url }) => ({
        name,
        pid,
        work: async () => (await load({ url, ...work })) * calls,
      }))
      await table.compare(title, ours!, theirs!)
    }
    for (const [kind, call] of Object.entries({ forwarded: FORWARDED, 'locally answered': LOCAL })) {
      const [ours, theirs] = sides.map(({ name, pid, sockets }) => ({
        name,
        pid,
        work: () => exchange(sockets, call),
      }))
      await table.compare(`${kind} call over WebSocket`, ours!, theirs!)
    }
    for (const socket of sides.flatMap(({ sockets }) => sockets)) socket.terminate()
  } finally {
    await others.stop()
  }
})
