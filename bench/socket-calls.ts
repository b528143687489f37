/** CPU per call over open WebSockets, one call at a time on each: against bare ws references, and against HTTP. */
import { FORWARDED, LOCAL } from './parts/calls.ts'
import type { Side } from './parts/compare.ts'
import { load } from './parts/load.ts'
import { overStarts } from './parts/over-starts.ts'
import { configFor } from './parts/processes.ts'
import { exchange, openAll } from './parts/socket-load.ts'

await overStarts(async (table, processes) => {
  const upstream = await processes.part('upstream')
  const relay = await processes.part('relay', { UPSTREAM: `http://${upstream.listen}` })
  const hello = await processes.part('hello')
  const { pid, listen } = await processes.gateway(configFor(upstream.listen))
  const path = `${listen}/eth/v1/rpc/${await processes.key('bench')}`
  const [ours, relayed, fixed] = [
    await openAll(`ws://${path}`),
    await openAll(`ws://${relay.listen}/`),
    await openAll(`ws://${hello.listen}/`),
  ]
  const us = (call: string | readonly string[]): Side => ({
    name: 'gateway',
    pid,
    work: () => exchange(ours, call),
  })
  const http = (body: string | readonly string[]): Side => ({
    name: 'the gateway over HTTP',
    pid,
    work: () => load({ url: `http://${path}`, body }),
  })
  const bareRelay = { name: 'bare ws relay', pid: relay.pid, work: () => exchange(relayed, FORWARDED) }
  const bareServer = { name: 'bare ws server', pid: hello.pid, work: () => exchange(fixed, LOCAL) }
  await table.compare('forwarded call over WebSocket', us(FORWARDED), bareRelay)
  await table.compare('forwarded call over WebSocket', us(FORWARDED), http(FORWARDED))
  await table.compare('locally answered call over WebSocket', us(LOCAL), bareServer)
  await table.compare('locally answered call over WebSocket', us(LOCAL), http(LOCAL))
  for (const socket of [...ours, ...relayed, ...fixed]) socket.terminate()
})
