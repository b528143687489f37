import t from 'tap'
import { Client } from 'undici'
import { createPublicClient, http as viemHttp } from 'viem'
import { JsonRpcProvider } from 'ethers'
import { createSolanaRpc } from '@solana/kit'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { get, send } from '../support/http.ts'
import { result } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'
import { childrenOf, crewOf, isAlive } from '../support/workers.ts'
import { message } from '../support/access.ts'

const WORKERS = 2
const CLIENTS = 64

const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  gateway: { workers: WORKERS, timeouts: { drain: '5s', drainIdle: '1s' } },
})

/** Ways to make one call, each as its library keeps connections. */
const libraries: Readonly<Record<string, (url: string) => () => Promise<unknown>>> = {
  undici: url => {
    const { origin, pathname } = new URL(url)
    const client = new Client(origin)
    return async () => {
      const { statusCode, body } = await client.request({
        ...{ path: pathname, method: 'POST', body: message('eth_gasPrice') },
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

t.test('two restarts of all processes lose no call, and no connection is refused', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
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
  const before = await crewOf(gateway, WORKERS)
  let last = before
  for (const way of ['request', 'signal']) {
    if (way === 'request') {
      const reply = await send(Number(new URL(gateway.adminUrl).port), { path: '/restart', method: 'POST' })
      t.strictSame([reply.status, JSON.parse(reply.text)], [202, { slots: [1, 2] }])
      const again = await send(Number(new URL(gateway.adminUrl).port), { path: '/restart', method: 'POST' })
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
  isOver = true
  await Promise.all(clients)
  t.strictSame(failures, [])
  t.ok(done > CLIENTS * 10, `${done} calls`)
  t.equal((await access.usage()).calls, done, 'each was charged once')
  t.strictSame(childrenOf(gateway.pid).length, WORKERS + 1)
})

t.test('a gateway of one process says why it is not restarted', async t => {
  const one = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    gateway: { workers: 1 },
  })
  const reply = await send(Number(new URL(one.adminUrl).port), { path: '/restart', method: 'POST' })
  t.equal(reply.status, 409)
  t.match(JSON.parse(reply.text).error, /^with workers: 1 there is one process/)
  one.signal('SIGUSR2')
  await until('it is said in the log', () => Promise.resolve(one.printed.includes('with workers: 1')))
  t.equal((await get(`${one.adminUrl}/livez`)).status, 200)
  t.equal(childrenOf(one.pid).length, 0)
})
