/**
 * CPU per request of a server that takes bodies and writes replies as the gateway does, as a ratio against the same server on Node's own streams and
 * `writeHead`:
 *
 *     node --import=tsx bench/http-server.ts
 */
import { LOCAL } from './parts/calls.ts'
import { load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'

const sides = [
  ['body and head', { OWN_BODY: '1', OWN_HEAD: '1' }],
  ['body', { OWN_BODY: '1' }],
  ['head', { OWN_HEAD: '1' }],
] as const

await overStarts(async (table, processes) => {
  const plain = await processes.part('server')
  const side = (name: string, { pid, listen }: typeof plain) => ({
    name,
    pid,
    work: () => load({ url: `http://${listen}/`, body: LOCAL }),
  })
  for (const [title, env] of sides)
    await table.compare(title, side('own', await processes.part('server', env)), side('Node', plain))
})
