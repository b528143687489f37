/** Sockets and streams of callers whose holdings are counted elsewhere: over several workers, or late. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { Gateway } from '../../src/call/gateway.ts'
import type { Live } from '../../src/call/context.ts'
import { Places } from '../../src/http/place.ts'
import { ClientStreams } from '../../src/http/proxied/client-streams.ts'
import type { ClientStream } from '../../src/http/proxied/client-streams.ts'
import { makePublicListener } from '../../src/http/public-listener.ts'
import type { PublicListener } from '../../src/http/public-listener.ts'
import { Slots } from '../../src/limits/slots.ts'
import { HeldCounts } from '../../src/limits/held-counts.ts'
import { systemClock } from '../../src/ports/clock.ts'
import type { Holdings } from '../../src/ports/holdings.ts'
import type { Keys } from '../../src/ports/keys.ts'
import { isRefusal } from '../../src/refusal/refusal.ts'
import { connectHoldings } from '../support/holdings.ts'
import { keeperAt, startKeeper } from '../support/keeper.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { askUpgrade, openClient, upgradeHeaders } from '../support/socket-client.ts'
import type { SocketClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const yaml = {
  networks: `
baseUrl: http://127.0.0.1:8080/{slug}
networks:
  eth: { name: Test, family: evm, chainId: 1, public: true }
`,
  routes: `
routes:
  - { id: eth-a, network: eth, http: "http://127.0.0.1:1", ws: "ws://127.0.0.1:1" }
`,
  plans: `
plans:
  public: { tiers: [any], rate: { perSecond: 10, burst: 30 }, maxBatch: 20, ws: { connections: 2, subscriptions: 5 } }
  small: { tiers: [any], rate: { perSecond: 25, burst: 50 }, maxBatch: 100, ws: { connections: 5, subscriptions: 20 } }
  large: { tiers: [any], rate: { perSecond: 25, burst: 50 }, maxBatch: 100, ws: { connections: 16, subscriptions: 20 } }
`,
}
const snapshot = await snapshotOf(t, yaml)
const PATH = '/eth/v1/rpc/tg_key'

/** The one key there is: what its account may is for the test to change. */
class OneKey implements Keys {
  changes = 0
  #plan: string | null

  constructor(plan: string) {
    this.#plan = plan
  }

  /** Another plan from now on; null revokes the key. */
  change(plan: string | null): void {
    this.#plan = plan
    this.changes += 1
  }

  find(): ReturnType<Keys['find']> {
    if (this.#plan === null) return null
    return {
      account: { id: 'acc_1', plan: this.#plan, status: 'active', createdAt: 0 },
      endpoint: { id: 'ep_1', network: 'eth', status: 'active', allowedIps: null, allowedOrigins: null },
    } as unknown as ReturnType<Keys['find']>
  }
}

interface Served extends PublicListener {
  readonly gateway: Gateway
  readonly port: number
  readonly url: string
  readonly holdings: Holdings
}

async function serve(t: Test, keys: Keys, holdings: Holdings): Promise<Served> {
  const live = {
    observer: { refused: () => undefined },
    journal: { refused: () => undefined },
    clientSubscriptions: new Slots(),
    badKeys: { count: () => null },
    upstreams: { get: () => null },
    clock: systemClock,
  } as unknown as Live
  const gateway = new Gateway(snapshot, keys, live)
  const listener = makePublicListener(gateway, snapshot.gateway, { holdings })
  const { server } = listener
  server.listen(0, '127.0.0.1')
  t.teardown(async () => {
    await Promise.all([listener.sockets.drain(), listener.streams.drain()])
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { ...listener, gateway, port, holdings, url: `ws://127.0.0.1:${port}${PATH}` }
}

/** Workers of one keeper; each looks at what it holds when the keeper is there again. */
async function workersAt(t: Test, path: string, keys: readonly Keys[]): Promise<readonly Served[]> {
  return Promise.all(
    keys.map(async (key, i) => {
      let served: Served | null = null
      const connected = (): void => served?.sockets.recount()
      const holdings = await connectHoldings(t, path, { slot: i + 1, connected })
      served = await serve(t, key, holdings.of('connections'))
      return served
    }),
  )
}

async function fourWorkers(t: Test, keys: readonly Keys[]): Promise<readonly Served[]> {
  return workersAt(t, (await startKeeper(t)).path, keys)
}

/** Holdings that answer when the test says so. */
class Late extends Slots {
  readonly asked: (() => void)[] = []

  override take(holder: string, limit: number): any {
    return new Promise(resolve =>
      this.asked.push(() => {
        resolve(super.take(holder, limit))
      }),
    )
  }
}

/** Asks for a socket, and says nothing more. */
function shake(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  const head = Object.entries({ host: '127.0.0.1', ...upgradeHeaders }).map(one => one.join(': '))
  socket.write(`GET ${PATH} HTTP/1.1\r\n${head.join('\r\n')}\r\n\r\n`)
  return socket
}

const openOf = (clients: readonly SocketClient[]): number =>
  clients.filter(({ over }) => over === undefined).length

t.test('handshakes that race over four workers end at exactly the limit', async t => {
  const workers = await fourWorkers(
    t,
    [1, 2, 3, 4].map(() => new OneKey('small')),
  )
  const outcomes = await Promise.allSettled(
    Array.from({ length: 24 }, async (_, i) => openClient(t, workers[i % 4]!.url)),
  )
  const clients = outcomes.flatMap(one => (one.status === 'fulfilled' ? [one.value] : []))
  t.equal(clients.length, 5)
  const refused = await askUpgrade(workers[0]!.port, PATH)
  t.equal(refused.status, 429)
  t.match(refused.text, /too_many_connections.*"limit":5/)
  await clients[0]!.close()
  await until('its place is free', async () => openClient(t, workers[3]!.url).catch(() => undefined))
  t.equal((await askUpgrade(workers[2]!.port, PATH)).status, 429)
})

t.test('after a downgrade the newest of each worker close, until all together keep to the limit', async t => {
  const keys = [1, 2, 3, 4].map(() => new OneKey('large'))
  const workers = await fourWorkers(t, keys)
  const clients: SocketClient[][] = [[], [], [], []]
  for (const [i, count] of [6, 4, 4, 1].entries())
    for (let n = 0; n < count; n += 1) clients[i]!.push(await openClient(t, workers[i]!.url))
  // One worker hears of it after the other.
  for (const [i, key] of keys.entries()) {
    const before = openOf(clients[i]!)
    key.change('small')
    // On a slow machine those before close enough of their own meanwhile.
    if (before > 1)
      await until('its newest close', () =>
        Promise.resolve(openOf(clients[i]!) < before || openOf(clients.flat()) === 5),
      )
  }
  await until('all keep to the limit', async () =>
    (await Promise.all(workers.map(async ({ holdings }) => holdings.part('acc_1', 5)))).every(
      part => part === Infinity,
    ),
  )
  await until('all are closed', () => Promise.resolve(openOf(clients.flat()) <= 5))
  t.equal(openOf(clients.flat()), 5)
  for (const own of clients)
    t.notOk(
      own.slice(openOf(own)).some(({ over }) => over === undefined),
      'the oldest stay',
    )
  const ends = clients.flat().flatMap(({ over }) => (over === undefined ? [] : [over]))
  t.strictSame(
    ends,
    Array.from({ length: 10 }, () => ({ code: 1008, reason: 'too_many_connections' })),
  )
  t.equal((await askUpgrade(workers[1]!.port, PATH)).status, 429)
})

t.test('bug: sockets that workers let in while the keeper was away stayed above the limit', async t => {
  const { keeper, path } = await startKeeper(t)
  const workers = await workersAt(
    t,
    path,
    [1, 2, 3].map(() => new OneKey('small')),
  )
  await keeper.close()
  const clients: SocketClient[] = []
  for (const { url } of workers)
    for (let i = 0; i < 8; i += 1)
      clients.push(
        ...(await openClient(t, url).then(
          one => [one],
          () => [],
        )),
      )
  t.equal(openOf(clients), 15, 'each goes by what it knows')
  await keeperAt(t, path, { holdings: new HeldCounts({ processes: 3 }) })
  await until('all together keep to the limit', () => Promise.resolve(openOf(clients) <= 5))
  t.equal(openOf(clients), 5)
})

t.test('what is told to close is held no more, though its client does not answer', async t => {
  const slots = new Slots()
  const keys = new OneKey('large')
  const { port, sockets } = await serve(t, keys, slots)
  for (let i = 0; i < 7; i += 1) await once(shake(port), 'data')
  t.strictSame([slots.held('acc_1'), sockets.count('eth')], [7, 7])
  keys.change('small')
  await until('two are told', () => Promise.resolve(slots.held('acc_1') < 7))
  t.strictSame([slots.held('acc_1'), sockets.count('eth')], [5, 7])
  await until('they are cut', () => Promise.resolve(sockets.count('eth') === 5))
  t.equal(slots.held('acc_1'), 5)
})

t.test('who leaves while it waits for a place has none', async t => {
  const late = new Late()
  const { port, sockets } = await serve(t, new OneKey('small'), late)
  const socket = shake(port)
  await until('it is asked', () => Promise.resolve(late.asked.length === 1))
  socket.resetAndDestroy()
  await once(socket, 'close')
  late.asked[0]!()
  await until('nobody holds it', () =>
    Promise.resolve(late.held('acc_1') === 0 && sockets.count('eth') === 0),
  )
})

t.test('a handshake that is none gives its place back', async t => {
  const slots = new Slots()
  const { port } = await serve(t, new OneKey('small'), slots)
  t.equal((await askUpgrade(port, PATH, { 'sec-websocket-key': 'short' })).status, 400)
  t.equal(slots.held('acc_1'), 0)
})

t.test('a key that is revoked while its socket waits for a place closes it', async t => {
  const late = new Late()
  const keys = new OneKey('small')
  const { url } = await serve(t, keys, late)
  const before = openClient(t, url)
  await until('it is asked', () => Promise.resolve(late.asked.length === 1))
  late.asked[0]!()
  const open = await before
  const opening = openClient(t, url)
  await until('it is asked', () => Promise.resolve(late.asked.length === 2))
  keys.change(null)
  await open.closedBy('the change is acted on')
  late.asked[1]!()
  t.strictSame(await (await opening).closedBy('its key is revoked'), { code: 1008, reason: 'invalid_key' })
  await until('its place is free', () => Promise.resolve(late.held('acc_1') === 0))
})

t.test('a drain that begins while a socket waits for a place refuses it', async t => {
  const late = new Late()
  const { port, sockets } = await serve(t, new OneKey('small'), late)
  const asking = askUpgrade(port, PATH)
  await until('it is asked', () => Promise.resolve(late.asked.length === 1))
  await sockets.drain()
  late.asked[0]!()
  const reply = await asking
  t.equal(reply.status, 503)
  t.match(reply.text, /shutting down/)
  t.equal(late.held('acc_1'), 0)
})

t.test('a socket that opens while others take over is closed as those before it, not refused', async t => {
  const late = new Late()
  const { url, sockets } = await serve(t, new OneKey('small'), late)
  const opening = openClient(t, url)
  await until('it is asked', () => Promise.resolve(late.asked.length === 1))
  await sockets.drain(0, false)
  late.asked[0]!()
  const closed = { code: 1001, reason: 'the gateway is going away' }
  t.strictSame(await (await opening).closedBy('the drain'), closed)
  const next = openClient(t, url)
  await until('the next is asked', () => Promise.resolve(late.asked.length === 2))
  late.asked[1]!()
  t.strictSame(await (await next).closedBy('the drain'), closed)
  await until('their places are free', () => Promise.resolve(late.held('acc_1') === 0))
})

t.test('an event stream waits for its place, and gives it back once', async t => {
  const late = new Late()
  const { gateway } = await serve(t, new OneKey('small'), new Slots())
  const streams = new ClientStreams(gateway, new Places(late))
  t.teardown(() => streams.drain())
  const visitor = {
    network: gateway.snapshot.networks['eth']!,
    key: 'tg_key',
    origin: undefined,
    session: null,
    address: '192.0.2.1',
    limitAddress: '192.0.2.1',
    transport: 'http' as const,
  }
  const caller = gateway.readmit(visitor)
  if (isRefusal(caller)) throw new Error(caller.message)
  const stream = (): ClientStream => ({
    visitor,
    caller,
    epoch: gateway.epoch,
    method: 'GET /x',
    route: 'eth-a',
    stop: () => undefined,
  })
  const taking = Array.from({ length: 6 }, () => streams.take(stream()))
  for (const answer of late.asked.splice(0)) answer()
  const taken = await Promise.all(taking.map(async place => place))
  t.strictSame(taken.map(isRefusal), [false, false, false, false, false, true])
  t.equal(streams.count('eth'), 5)
  const [end] = taken
  if (typeof end !== 'function') throw new Error('it was refused')
  end()
  end()
  t.strictSame([streams.count('eth'), late.held('acc_1')], [4, 4])
  const last = streams.take(stream())
  void streams.drain()
  late.asked[0]!()
  t.match(await last, { reason: 'no_route' })
  t.equal(late.held('acc_1'), 4)
})
