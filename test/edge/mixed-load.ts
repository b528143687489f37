import type { Test } from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { descriptors } from '../support/descriptors.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { INSPECTED, keptMemory } from '../support/kept-memory.ts'
import { memoryIsVisible } from '../support/memory.ts'
import { metric } from '../support/metrics.ts'
import { echo } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { until } from '../support/until.ts'
import { HostileCrowd } from './hostile-crowd.ts'

const MiB = 2 ** 20
/** MiB that code compiled meanwhile, caches and counters may come to. */
const MOST_KEPT = 4

/** How hard the gateway is tried. */
export interface MixedLoad {
  /** Seconds after which memory is looked at for the first time. */
  readonly warmUp: number
  readonly seconds: number
  /** Sockets that send a byte now and then. */
  readonly slow: number
  /** Good calls a second. */
  readonly good: number
  /** The longest that the event loop may be blocked, in seconds; null only prints it. */
  readonly maxLag: number | null
}

/** Good calls at a fixed rate among everything that means no good: none is lost, and nothing is left behind. */
export async function mixedLoad(t: Test, { warmUp, seconds, slow, good, maxLag }: MixedLoad): Promise<void> {
  const node = (await startNode(t, { chainId: 1001 })).on('web3_sha3', echo)
  const gateway = await startGateway(
    t,
    {
      networks: { alpha: { chainId: 1001, public: true } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
      methods: fewMethods,
      plans: { modest: { tiers: ['any'], rate: { perSecond: 20, burst: 20 }, maxBatch: 100 } },
      gateway: { timeouts: { headers: '5s', request: '10s' } },
    },
    { env: INSPECTED },
  )
  const access = await createAccess(gateway, 'paid', 'alpha')
  const greedy = await createAccess(gateway, 'modest', 'alpha')
  const bodyOf = (n: number) => message('web3_sha3', [`0x${n}`], n)
  const loaded = async (duration: number) => {
    const begin = performance.now()
    return steadyLoad(access, good, bodyOf, () => performance.now() - begin > duration * 1000)
  }
  const filesBefore = await files(gateway)
  const request = (path: string, body: string, headers = '') =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`
  const chunked = `POST ${greedy.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  const mutated = [
    request(greedy.path, bodyOf(1)),
    request(
      '/alpha/v1/rpc/public',
      `[${bodyOf(1)},${bodyOf(2)},${message('eth_getBalance', ['0x', 'latest'])}]`,
    ),
    request(greedy.path, message('eth_getBlockReceipts', ['latest'])) + request(greedy.path, bodyOf(3)),
    `${chunked}${bodyOf(1).length.toString(16)};a=b\r\n${bodyOf(1)}\r\n0\r\nX: y\r\n\r\n`,
    `GET ${greedy.path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  ]
  const seed = Date.now() % 1_000_000
  const gather = () => {
    const crowd = new HostileCrowd(gateway.port)
    crowd.flood('bad keys', '127.0.0.2', 10, request(`/alpha/v1/rpc/tg_${'a'.repeat(38)}`, bodyOf(1)))
    crowd.flood('over the rate', '127.0.0.3', 10, request(greedy.path, bodyOf(1)))
    for (const last of [4, 5, 6, 7])
      crowd.slowloris(
        `127.0.0.${last}`,
        slow / 4,
        request(greedy.path, bodyOf(1), `X: ${'a'.repeat(200)}\r\n`),
      )
    crowd.mutants('127.0.0.8', 10, seed, mutated)
    return crowd
  }
  // What the first of them bring into memory is the program's: what a minute adds to it would go on growing.
  const first = gather()
  await loaded(warmUp)
  await first.stop()
  const memoryBefore = await keptMemory(gateway.printed)

  const crowd = gather()
  const watch = watchLoop(gateway)
  const calls = await loaded(seconds)
  const { lag, healthy } = await watch()
  await crowd.stop()
  t.comment(`seed ${seed}; ${calls.length} good calls; ${JSON.stringify(crowd.statuses)}`)
  const lost = calls.filter(({ status, text }, n) => status !== 200 || !text.includes(`["0x${n}"]`))
  t.same(lost.slice(0, 3), [], `${lost.length} good calls were lost`)
  t.ok(calls.length > (good * seconds) / 2, `${calls.length} good calls`)
  t.ok(healthy, 'the health endpoints answered all the time')
  t.same(crowd.odd, [], 'nothing ended in an internal error')
  t.notMatch(gateway.printed, /internal error|uncaught/i)
  for (const [name, wanted] of [
    ['bad keys', '429'],
    ['over the rate', '429'],
    ['mutants', '400'],
  ] as const)
    t.ok((crowd.statuses[name]?.[wanted] ?? 0) > 0, `${name} were refused with ${wanted}`)

  t.equal((await access.post(bodyOf(1))).status, 200)
  await until('the descriptors are given back', async () => (await files(gateway)) <= filesBefore + 10)
  const grown = ((await keptMemory(gateway.printed)) - memoryBefore) / MiB
  t.comment(`it keeps ${grown.toFixed(1)} MiB more than before`)
  t.ok(grown < MOST_KEPT, 'what came is forgotten')
  t.comment(`the event loop was blocked for at most ${Math.round(lag * 1000)} ms`)
  if (maxLag !== null) t.ok(lag < maxLag, `${lag} s`)
}

async function files(gateway: Gateway): Promise<number> {
  return memoryIsVisible ? descriptors(gateway.pid) : 0
}

/** Asks the admin listener now and then; the function given back ends that and tells the worst it saw. */
function watchLoop(gateway: Gateway): () => Promise<{ lag: number; healthy: boolean }> {
  const seen = { lag: 0, healthy: true }
  const over = new AbortController()
  const watching = (async () => {
    while (!over.signal.aborted) {
      await pause(1_000)
      const lag = await metric(gateway, 'nodejs_eventloop_lag_max_seconds')
      if (Number.isFinite(lag)) seen.lag = Math.max(seen.lag, lag)
      for (const path of ['/livez', '/readyz'])
        if ((await get(gateway.adminUrl + path)).status !== 200) seen.healthy = false
    }
  })()
  return async () => {
    over.abort()
    await watching
    return seen
  }
}
