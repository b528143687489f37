import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTcp } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { HttpProxy } from '../../src/routes/transport/proxy/http-proxy.ts'

const said = (body: string) => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`

async function listen(t: Test, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** A node that answers `mine`, the proxy of its route, and requests of clients for it. */
async function scene(t: Test) {
  /** The connection of each request. */
  const served: Socket[] = []
  const serve = (socket: Socket): void => {
    socket.on('error', () => undefined)
    socket.on('data', () => {
      served.push(socket)
      socket.write(said('mine'))
    })
  }
  const port = await listen(t, createTcp(serve))
  const proxy = new HttpProxy({ http: `http://127.0.0.1:${port}`, headers: {} }, 5_000)
  t.teardown(() => {
    proxy.destroy()
  })
  const server = createServer()
  const clients = await listen(t, server)
  t.teardown(() => {
    server.closeAllConnections()
  })
  /** A request of a client, which is sent on when the result is called; that gives what it is answered. */
  const arrive = async (): Promise<() => Promise<string>> => {
    request({ port: clients, host: '127.0.0.1', agent: false })
      .on('error', () => undefined)
      .end()
    const [incoming, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
    const proxied = {
      request: incoming,
      response,
      verb: 'GET',
      target: '/x',
      bodyLimit: null,
      refusal: () => null,
    }
    return async () => {
      const result = await proxy.send(proxied, 5_000)
      if (result.kind !== 'head') return result.how
      let text = ''
      for await (const piece of result.body) text += String(piece)
      // Then its connection is free.
      await new Promise(setImmediate)
      return text
    }
  }
  return { served, arrive }
}

/** Waits, with the event loop held up, until bytes lie unread at the other end of a connection. */
function waitForArrival({ remotePort, localPort }: Socket): void {
  const [local, remote] = [remotePort, localPort].map(
    (port = 0) => `:${port.toString(16).toUpperCase().padStart(4, '0')}`,
  )
  for (const end = Date.now() + 10_000; Date.now() < end;) {
    const rows = readFileSync('/proc/net/tcp', 'latin1')
      .split('\n')
      .map(line => line.trim().split(/\s+/))
    // Connections to other servers may have the same local port.
    const [, , , , queues = ''] =
      rows.find(row => row[1]?.endsWith(local!) && row[2]?.endsWith(remote!)) ?? []
    if (/:0*[1-9A-F]/.test(queues)) return
  }
  throw new Error('gave up waiting for bytes to arrive')
}

t.test('bug: a second reply of a verbatim node was taken for the answer to the next request', async t => {
  for (const stale of [said('stale'), said('stale').slice(0, 20)]) {
    const { served, arrive } = await scene(t)
    const both = [await arrive(), await arrive()]
    t.strictSame(await Promise.all(both.map(ask => ask())), ['mine', 'mine'])
    t.equal(await (await arrive())(), 'mine')
    t.equal(new Set(served).size, 2, 'connections are kept')
    for (const connections of [2, 3]) {
      const ask = await arrive()
      const last = served.at(-1)!
      last.write(stale)
      waitForArrival(last)
      t.equal(await ask(), 'mine')
      t.not(served.at(-1), last, 'over another connection')
      t.equal(new Set(served).size, connections)
    }
  }
})
