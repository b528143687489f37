import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { adminRoutes } from '../../../src/runtime/admin/admin-routes.ts'
import { systemClock } from '../../../src/ports/clock.ts'
import type { AdminParts } from '../../../src/runtime/admin/admin-routes.ts'
import { ByteBudget } from '../../../src/limits/byte-budget.ts'
import { Metrics } from '../../../src/observe/metrics.ts'
import { ClientSockets } from '../../../src/http/websocket/client-sockets.ts'
import { Place } from '../../../src/http/place.ts'
import { Slots } from '../../../src/limits/slots.ts'

const NETWORKS = 1_000
const ROUTES = 10
const SOCKETS = 10_000

type Socket = Parameters<ClientSockets['add']>[0]

/** What a socket holds of its caller's connections. */
const place = new Place(new Slots(), 'acc_1')

/** A client's socket with one subscription. */
function socketOf(network: string): Socket {
  return { network, session: { size: 1 }, tick: () => undefined } as unknown as Socket
}

/** As much of a gateway as a scrape reads: many networks with ten routes each, and as many client sockets as routes. */
function crowd(): {
  readonly sockets: ClientSockets
  readonly parts: AdminParts
  readonly scrape: () => Promise<Buffer>
} {
  const networks = Object.fromEntries(
    Array.from({ length: NETWORKS }, (_, i) => [`net-${i}`, { slug: `net-${i}` }]),
  )
  const routes = Array.from({ length: ROUTES }, (_, i) => ({
    id: `route-${i}`,
    head: 1_000_000 + i,
    limits: { inFlight: i, pace: { at: () => null } },
  }))
  const clientSubscriptions = new Slots()
  const gateway = {
    epoch: '',
    snapshot: { version: 'v', networks, gateway: { dataDir: '.', postgres: null } },
    live: {
      clock: systemClock,
      clientSubscriptions,
      upstreams: { of: () => routes, whyUnhealthy: () => null, unsupported: { of: () => [] } },
      heads: { best: () => 1_000_009, finality: { of: () => 1_000_000 } },
      subscriptions: { count: () => new Map([['net-1', 7]]) },
    },
  } as unknown as AdminParts['gateway']
  const sockets = new ClientSockets(gateway)
  for (let i = 0; i < SOCKETS; i += 1) {
    const network = `net-${i % NETWORKS}`
    sockets.add(socketOf(network), place)
    clientSubscriptions.take(network, Infinity)
  }
  const metrics = new Metrics()
  for (let i = 0; i < NETWORKS * ROUTES; i += 1)
    metrics.attempt({
      requestId: 'r',
      account: null,
      endpoint: null,
      network: `net-${i % NETWORKS}`,
      route: `route-${i}`,
      method: 'eth_call',
      result: 'ok',
      ms: 1,
    })
  const memory = new ByteBudget(() => 1_000)
  memory.take(300)
  const parts = {
    dir: '.',
    gateway,
    metrics,
    clients: { sockets, streams: { count: () => 0 }, memory },
    workers: null,
    state: { draining: false },
    reloader: { state: { ok: true }, succeededAt: 5, takenAt: 5 },
  } as unknown as AdminParts
  const routesOf = adminRoutes(parts)
  return {
    sockets,
    parts,
    scrape: async () => (await (routesOf['GET /metrics']!(null) as Promise<{ text: Buffer }>)).text,
  }
}

/** The longest time in which the loop of this process did nothing else while `work` ran, in milliseconds. */
async function longestBlock(work: () => Promise<unknown>): Promise<number> {
  let [longest, over, last] = [0, false, performance.now()]
  const look = (): void => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (!over) setImmediate(look)
  }
  await pause(0)
  last = performance.now()
  setImmediate(look)
  await work()
  over = true
  look()
  return longest
}

/** The best of three, so that what else this machine does is not measured. */
async function quietest(work: () => Promise<unknown>): Promise<number> {
  return Math.min(await longestBlock(work), await longestBlock(work), await longestBlock(work))
}

const { sockets, parts, scrape } = crowd()

t.test('a scrape with 10 000 sockets and 10 000 routes lets calls have their turns', async t => {
  await scrape()
  const longest = await quietest(scrape)
  t.ok(longest < 50, `${longest.toFixed(1)} ms in one piece`)
})

t.test('what is scraped is what is there', async t => {
  const one = socketOf('net-3')
  sockets.add(one, place)
  t.match((await scrape()).toString(), /^tollgate_ws_connections\{network="net-3"\} 11$/m)
  sockets.remove(one)
  sockets.remove(one)
  const text = (await scrape()).toString()
  t.match(text, /^tollgate_ws_connections\{network="net-3"\} 10$/m)
  t.match(text, /^tollgate_ws_subscriptions\{network="net-3",side="client"\} 10$/m)
  t.match(text, /^tollgate_ws_subscriptions\{network="net-1",side="upstream"\} 7$/m)
  t.match(text, /^tollgate_ws_subscriptions\{network="net-2",side="upstream"\} 0$/m)
  t.match(text, /^tollgate_memory_held_bytes 300$/m)
  t.match(text, /^tollgate_memory_limit_bytes 1000$/m)
})

t.test('scrapes at the same time are written once', async t => {
  const texts = await Promise.all(Array.from({ length: 10 }, scrape))
  t.equal(new Set(texts).size, 1)
  const longest = await quietest(() => Promise.all(Array.from({ length: 10 }, scrape)))
  t.ok(longest < 50, `${longest.toFixed(1)} ms in one piece`)
  parts.gateway.live.clientSubscriptions.take('net-5', Infinity)
  t.not(await scrape(), texts[0], 'the next one is a new one')
})
