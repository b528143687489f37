import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Gateway } from './gateway.ts'
import { get } from './http.ts'
import type { Teardown } from './teardown.ts'

/** How often the balancer asks whether a gateway is ready, in milliseconds. */
const askEvery = 100

/** A TCP balancer in front of some gateways: connections that are new go to those that are ready, or else to whoever takes them. */
export interface Balancer {
  readonly port: number
  /** Resolves when the gateways with these indexes, and no others, are known to be ready. */
  sees(...ready: number[]): Promise<void>
}

/** Starts one; `admins` are the admin URLs, which stay the same when a gateway is started again. */
export async function startBalancer(t: Teardown, gateways: readonly Gateway[]): Promise<Balancer> {
  const backends = gateways.map(({ port, adminUrl }) => ({ port, adminUrl, ready: true }))
  const open = new Set<Socket>()
  let next = 0
  let over = false
  const server = createServer({ allowHalfOpen: true, noDelay: true }, client => {
    open.add(client)
    client.on('error', () => undefined).on('close', () => open.delete(client))
    next += 1
    const inTurn = backends.map((_, i) => backends[(next + i) % backends.length]!)
    const ports = [...inTurn.filter(({ ready }) => ready), ...inTurn.filter(({ ready }) => !ready)]
    pass(
      client,
      ports.map(({ port }) => port),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const asking = backends.map(async backend => {
    while (!over) {
      backend.ready = await get(`${backend.adminUrl}/readyz`).then(
        ({ status }) => status === 200,
        () => false,
      )
      await pause(askEvery)
    }
  })
  t.teardown(async () => {
    over = true
    for (const socket of open) socket.destroy()
    server.close()
    await Promise.all(asking)
  })
  return {
    port: (server.address() as AddressInfo).port,
    sees: async (...ready) => {
      while (backends.some((backend, i) => backend.ready !== ready.includes(i))) await pause(askEvery / 10)
    },
  }
}

/** Carries bytes between a client and the first of these ports that takes a connection. */
function pass(client: Socket, [port, ...others]: readonly number[]): void {
  if (port === undefined) {
    client.destroy()
    return
  }
  const gateway = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true })
  let taken = false
  gateway.on('connect', () => {
    taken = true
    client.pipe(gateway).pipe(client)
    client.on('close', () => gateway.destroy())
  })
  gateway.on('error', () => {
    if (taken) client.destroy()
    else pass(client, others)
  })
}
