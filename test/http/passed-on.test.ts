import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer as createNetServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { connectionsOf } from '../../src/http/connection.ts'
import { Gateway } from '../../src/call/gateway.ts'
import type { Live } from '../../src/call/context.ts'
import { takeConnection } from '../../src/http/connections/passed-on.ts'
import { drain, listen } from '../../src/http/listen.ts'
import { makePublicListener } from '../../src/http/public-listener.ts'
import { systemClock } from '../../src/ports/clock.ts'
import { attachPaused, detach } from '../../src/net/connection-handle.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { openSocket } from '../support/tcp.ts'
import { until, within } from '../support/until.ts'

const head = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\n'

/** A server that says who it is; a request with the body `hold` waits for `release`. */
class Named {
  readonly server: Server
  readonly held: ServerResponse[] = []

  constructor(name: string) {
    this.server = createServer((request, response) => {
      connectionsOf(this.server).enter(request, response, () => {
        void bodyOf(request).then(body => {
          if (body === 'hold') this.held.push(response)
          else response.end(name)
        })
      })
    })
  }

  async start(t: Test): Promise<number> {
    t.teardown(() => {
      this.server.close()
      this.server.closeAllConnections()
    })
    return Number((await listen(this.server, { host: '127.0.0.1', port: 0 })).split(':')[1])
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = ''
  for await (const chunk of request) body += String(chunk)
  return body
}

/** What comes next on a connection: what the reply says of it, and its body. */
async function next(socket: Socket): Promise<readonly [string, string]> {
  const [bytes] = (await within('a reply', once(socket, 'data'))) as [Buffer]
  const [, said = '', body = ''] =
    /connection: ([a-z-]+)[^]*\r\n\r\n(?:\d\r\n)?(\w+)/i.exec(bytes.toString()) ?? []
  return [said, body]
}

async function ask(socket: Socket, body = 'call'): Promise<readonly [string, string]> {
  socket.write(head + body)
  return next(socket)
}

t.test(
  'what is idle goes on elsewhere, bytes that wait unread included; what is not stays to its end',
  async t => {
    const [old, other] = [new Named('old'), new Named('other')]
    const port = await old.start(t)
    await other.start(t)
    const at = new Map<Socket, Socket>()
    const open = async (): Promise<Socket> => {
      const taken = once(old.server, 'connection')
      const socket = await openSocket(port)
      const [own] = (await taken) as [Socket]
      at.set(socket, own)
      t.teardown(() => socket.destroy())
      return socket
    }
    const used = await open()
    const unused = await open()
    const sending = await open()
    const busy = await open()
    const half = await open()
    for (const socket of [used, sending, half]) t.strictSame(await ask(socket), ['keep-alive', 'old'])
    busy.write(`${head}hold`)
    await until('its call has begun', () => Promise.resolve(old.held.length === 1))
    const before = at.get(half)!.bytesRead
    half.write(head.slice(0, 20))
    await until('the first bytes are read', () => Promise.resolve(at.get(half)!.bytesRead > before))
    const kept: boolean[] = []
    // Nobody has read it when the drain begins.
    sending.write(`${head}call`)
    const draining = drain(old.server, {
      idle: () => Promise.resolve(),
      patience: 10_000,
      keepIdle: 10_000,
      takesLast: false,
      passOn: (handle, isKept) => {
        kept.push(isKept)
        takeConnection(other.server, attachPaused(handle), isKept)
        return Promise.resolve()
      },
      endCalls: () => undefined,
      cutShort: () => undefined,
    })
    // Unread where it was.
    t.strictSame(await ask(sending), ['keep-alive', 'other'])
    t.strictSame(await ask(used), ['keep-alive', 'other'])
    t.strictSame(await ask(unused), ['keep-alive', 'other'])
    t.strictSame(kept, [true, false, true], 'in the order in which they came')
    const ended = next(busy)
    old.held[0]?.end('old')
    t.strictSame(await ended, ['close', 'old'], 'what was in flight is finished here')
    half.write(`${head.slice(20)}call`)
    t.strictSame(await next(half), ['close', 'old'], 'as is what had begun to come')
    await draining
    t.strictSame(await ask(used), ['keep-alive', 'other'])
  },
)

t.test('the time for a first request does not count where another process has answered one', async t => {
  const { gateway: settings, ...snapshot } = await snapshotOf(t)
  const live = {
    observer: { refused: () => undefined },
    journal: { refused: () => undefined },
    badKeys: { count: () => null },
    clock: systemClock,
  } as unknown as Live
  const gateway = new Gateway({ ...snapshot, gateway: settings }, { find: () => null, changes: 0 }, live)
  const timeouts = { ...settings.timeouts, headers: 100 }
  const { server } = makePublicListener(gateway, { ...settings, timeouts })
  // Node looks for late requests as long as a server listens.
  await listen(server, { host: '127.0.0.1', port: 0 })
  const accepting = createNetServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(accepting, 'listening')
  t.teardown(() => {
    for (const each of [server, accepting]) each.close()
    server.closeAllConnections()
  })
  const passedOn = async (isKept: boolean): Promise<Socket> => {
    const taken = once(accepting, 'connection')
    const socket = await openSocket((accepting.address() as AddressInfo).port)
    const [own] = (await taken) as [Socket]
    takeConnection(server, attachPaused(detach(own)!), isKept)
    return socket
  }
  const kept = await passedOn(true)
  const fresh = await passedOn(false)
  const [late] = (await within('the end of its time', once(fresh, 'data'))) as [Buffer]
  t.match(late.toString(), /^HTTP\/1.1 408 /)
  kept.write(`${head}call`)
  const [reply] = (await within('a reply', once(kept, 'data'))) as [Buffer]
  t.match(reply.toString(), /^HTTP\/1.1 4.*connection: keep-alive/is)
  t.notMatch(reply.toString(), /^HTTP\/1.1 408 /)
  kept.destroy()
})
