/** CPU per call over open WebSockets, one call at a time on each: against bare ws references, and against HTTP. */
import type { WebSocket } from 'ws'
import { FORWARDED, LOCAL } from './parts/calls.ts'
import type { Side } from './parts/compare.ts'
import { CALLS, CONNECTIONS } from './parts/effort.ts'
import { load } from './parts/load.ts'
import { openSocket } from './parts/open-socket.ts'
import { overStarts } from './parts/over-starts.ts'
import { configFor } from './parts/processes.ts'

/** Sends calls, the next on a socket when the one before is answered; rejects on an error in a reply. */
async function exchange(sockets: readonly WebSocket[], call: string): Promise<number> {
  let sent = 0
  const work = (socket: WebSocket): Promise<void> =>
    new Promise((resolve, reject) => {
      const next = (): void => {
        if (sent >= CALLS) {
          resolve()
          return
        }
        sent += 1
        socket.send(call)
      }
      socket.removeAllListeners('message').on('message', (reply: Buffer) => {
        if (reply.includes('"result"')) next()
        else reject(new Error(reply.toString()))
      })
      socket.once('close', (code: number) => {
        reject(new Error(`a socket was closed with ${code}`))
      })
      next()
    })
  await Promise.all(sockets.map(work))
  for (const socket of sockets) socket.removeAllListeners('close')
  return sent
}

function openAll(url: string): Promise<WebSocket[]> {
  return Promise.all(Array.from({ length: CONNECTIONS }, () => openSocket(url)))
}

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
  const us = (call: string): Side => ({ name: 'gateway', pid, work: () => exchange(ours, call) })
  const http = (body: string): Side => ({
    ...{ name: 'the gateway over HTTP', pid },
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
