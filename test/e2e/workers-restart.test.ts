import t from 'tap'
import { Client } from 'undici'
import { createPublicClient, http as viemHttp } from 'viem'
import { JsonRpcProvider } from 'ethers'
import { createSolanaRpc } from '@solana/kit'
import { createOwner } from '../dashboard/support/owner.ts'
import { Visitor } from '../dashboard/support/visitor.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { metric } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'
import { childrenOf, crewOf, isAlive, restart } from '../support/workers.ts'
import { message } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'

const WORKERS = 2
const CLIENTS = 64

const chain = new ScriptedChain()
const node = await startSocketNode(t, { chainId: 1001, chain })
node.on('eth_gasPrice', result('"0x1"'))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: fewAndSubscribe,
  gateway: { workers: WORKERS, timeouts: { drain: '5s', drainIdle: '1s' }, dashboardHost: '127.0.0.1' },
})

/** Ways to make one call, each as its library keeps connections. */
const libraries: Readonly<Record<string, (url: string) => () => Promise<unknown>>> = {
  undici: url => {
    const { origin, pathname } = new URL(url)
    const client = new Client(origin)
    return async () => {
      const { statusCode, body } = await client.request({
        path: pathname,
        method: 'POST',
        body: message('eth_gasPrice'),
        headers: { 'content-type': 'application/json' },
      })
      const text = await body.text()
      if (statusCode !== 200 || !text.includes('"result"')) throw new Error(`${statusCode} ${text}`)
    }
  },
  viem: url => {
    const client = createPublicClient({ transport: viemHttp(url, { retryCount: 0 }) })
    return () => client.getGasPrice()
  },
  ethers: url => {
    const provider = new JsonRpcProvider(url, 1001, { staticNetwork: true, batchMaxCount: 1 })
    t.teardown(() => {
      provider.destroy()
    })
    return () => provider.send('eth_gasPrice', [])
  },
  '@solana/kit': url => {
    // The network is an EVM one: only the transport of this library is of interest.
    const rpc = createSolanaRpc(url) as unknown as { eth_gasPrice(): { send(): Promise<unknown> } }
    return () => rpc.eth_gasPrice().send()
  },
}

/** The heads that one socket was told, and the heights of the chain between which it had to be told all of them. */
interface Watch {
  readonly heads: readonly number[]
  readonly from: number
  readonly to: number
  readonly code: number | null
}

/** Subscribes to heads, and again on a new socket whenever one is closed, until it is told to end. */
async function watchHeads(access: Access, isOver: () => boolean): Promise<readonly Watch[]> {
  const watches: Watch[] = []
  while (!isOver()) {
    const client = await openClient(t, access)
    const subscription = await client.subscribe('eth_subscribe', ['newHeads']).catch(() => null)
    const from = chain.head.number
    const closed: { at?: number } = {}
    void client.closed.then(() => (closed.at = chain.head.number))
    await until(
      'it is closed, or all is over',
      () => Promise.resolve(isOver() || client.over !== undefined),
      60_000,
    )
    const to = closed.at ?? chain.head.number
    const told = (): readonly any[] => (subscription === null ? [] : client.notifications(subscription))
    // The last ones were under way to it.
    if (client.over === undefined && to > from)
      await client.when('the last head', () => Number(told().at(-1)?.number) >= to)
    watches.push({
      heads: told().map(head => Number(head.number)),
      from,
      to,
      code: client.over?.code ?? null,
    })
    client.socket.terminate()
  }
  return watches
}

t.test('two restarts of all processes lose no call, and no connection is refused', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const watcher = await access.another('alpha')
  const owner = await createOwner(gateway, 'alpha')
  const visitor = new Visitor(gateway)
  t.equal((await visitor.signIn(owner.token)).status, 200)
  const mining = setInterval(() => chain.mine(), 50)
  const random = new Random(7)
  const names = Object.keys(libraries)
  let done = 0
  let isOver = false
  const failures: string[] = []
  const clients = Array.from({ length: CLIENTS }, async (_, i) => {
    const name = names[i % names.length]!
    const call = libraries[name]!(access.url)
    while (!isOver) {
      await call().then(
        () => (done += 1),
        (error: unknown) => failures.push(`${name}: ${String(error)}`),
      )
      await new Promise(resolve => setTimeout(resolve, random.below(50)))
    }
  })
  const watching = Promise.all(Array.from({ length: 8 }, () => watchHeads(watcher, () => isOver)))
  const before = await crewOf(gateway, WORKERS)
  let last = before
  for (const way of ['request', 'signal']) {
    if (way === 'request') {
      const reply = await restart(gateway)
      t.strictSame([reply.status, JSON.parse(reply.text)], [202, { slots: [1, 2] }])
      const again = await restart(gateway)
      t.equal(again.status, 409)
    } else gateway.signal('SIGUSR2')
    const old = [last.keeper, ...last.workers]
    await until('all processes are others', () => Promise.resolve(!old.some(isAlive)), 60_000)
    last = await crewOf(gateway, WORKERS)
    t.notOk(
      [last.keeper, ...last.workers].some(pid => old.includes(pid)),
      `all are new after a ${way}`,
    )
    await until('the restart is over', async () => (await gateway.status()).restarting === null)
  }
  t.equal((await visitor.ask('service_account')).status, 200, 'who was signed in still is')
  isOver = true
  clearInterval(mining)
  await Promise.all(clients)
  for (const watches of await watching) {
    t.strictSame(
      watches.map(({ code }) => code),
      [...watches.slice(1).map(() => 1001), null],
      'each socket was closed by a restart but the last',
    )
    for (const { heads, from, to, code } of watches) {
      const first = heads[0] ?? from + 1
      t.strictSame(
        heads,
        [...heads.keys()].map(i => first + i),
        'no head is missing',
      )
      t.ok(first <= from + 1, `the first head behind the subscription was told: ${first}, ${from}`)
      // Of a socket that was closed, what was under way to it is lost.
      if (code === null) t.ok((heads.at(-1) ?? from) >= to, `and the last: ${heads.at(-1)}, ${to}`)
    }
  }
  t.strictSame(failures, [], `no call failed: ${failures.slice(0, 5).join(' | ')}`)
  t.ok(done > CLIENTS * 10, `${done} calls`)
  t.equal((await access.usage()).calls, done, 'each was charged once')
  const charged = (await access.usage()).requests + (await watcher.usage()).requests
  t.equal(
    await metric(gateway, 'tollgate_requests_total'),
    charged,
    'the metrics have what ended processes counted',
  )
  t.strictSame(childrenOf(gateway.pid).length, WORKERS + 1)
})

t.test('a gateway of one process says why it is not restarted', async t => {
  const one = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewAndSubscribe,
    gateway: { workers: 1 },
  })
  const reply = await restart(one)
  t.equal(reply.status, 409)
  t.match(JSON.parse(reply.text).error, /^with workers: 1 there is one process/)
  one.signal('SIGUSR2')
  await until('it is said in the log', () => Promise.resolve(one.printed.includes('with workers: 1')))
  t.equal((await get(`${one.adminUrl}/livez`)).status, 200)
  t.equal(childrenOf(one.pid).length, 0)
})
