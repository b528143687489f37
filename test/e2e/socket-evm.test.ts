import t from 'tap'
import { Network, WebSocketProvider } from 'ethers'
import { createPublicClient, webSocket, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil as anvilChain } from 'viem/chains'
import { createAccess } from '../support/accounts.ts'
import { emit, emitterAbi, emitterCode } from '../support/emitter-contract.ts'
import { startGateway } from '../support/gateway.ts'
import { anvilSocketUrl, startLockstepAnvils } from '../support/lockstep-anvils.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { socketUrl } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

// A key that anvil gives money to, known to everybody.
const account = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')

const nodes = await startLockstepAnvils(t, ['--chain-id', '31337'])
const gateway = await startGateway(t, {
  networks: { dev: { chainId: 31_337 } },
  routes: [
    { id: 'dev-a', network: 'dev', http: nodes.a.url, ws: anvilSocketUrl(nodes.a), priority: 1 },
    { id: 'dev-b', network: 'dev', http: nodes.b.url, ws: anvilSocketUrl(nodes.b), priority: 2 },
  ],
})
const access = await createAccess(gateway, 'paid', 'dev')

let nonce = 0
/** A signed transaction of the account, each with the next nonce. */
const signed = (transaction: { readonly to?: Hex; readonly data?: Hex }): Promise<Hex> =>
  account.signTransaction({
    ...transaction,
    chainId: 31_337,
    nonce: nonce++,
    gas: 500_000n,
    type: 'eip1559' as const,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1n,
  })

const [deployment] = await nodes.send(await signed({ data: emitterCode }))
await nodes.mine()
const receipt = await nodes.a.call('eth_getTransactionReceipt', [deployment])
const contract = receipt.result.contractAddress as Hex

/** What one library was told, through its own API. */
interface Told {
  readonly name: string
  readonly heads: number[]
  /** The values that the contract logged. */
  readonly values: bigint[]
  readonly pending: string[]
  readonly troubles: unknown[]
}
const newTold = (name: string): Told => ({ name, heads: [], values: [], pending: [], troubles: [] })

const viem = newTold('viem')
const viemClient = createPublicClient({
  chain: anvilChain,
  transport: webSocket(socketUrl(access), { retryCount: 0, reconnect: false }),
})
const onError = (error: unknown) => viem.troubles.push(error)
const unwatch = [
  viemClient.watchBlockNumber({ onBlockNumber: number => viem.heads.push(Number(number)), onError }),
  viemClient.watchContractEvent({
    address: contract,
    abi: emitterAbi,
    eventName: 'Seen',
    onError,
    onLogs: logs => viem.values.push(...logs.map(({ args }) => args.value!)),
  }),
  viemClient.watchPendingTransactions({ onTransactions: hashes => viem.pending.push(...hashes), onError }),
]

const ethers = newTold('ethers')
const staticNetwork = Network.from(31_337)
const provider = new WebSocketProvider(socketUrl(access), staticNetwork, { staticNetwork })
await provider.on('block', (number: number) => ethers.heads.push(number))
await provider.on({ address: contract }, ({ data }: { data: string }) => ethers.values.push(BigInt(data)))
await provider.on('pending', (hash: string) => ethers.pending.push(hash))
await provider.on('error', (error: unknown) => ethers.troubles.push(error))

const libraries = [viem, ethers]
const sides = () => metric(gateway, 'tollgate_ws_subscriptions', { network: 'dev', side: 'client' })
const sockets = () => metric(gateway, 'tollgate_ws_connections', { network: 'dev' })

const values: bigint[] = []
const sent: string[] = []
let mined = 1
/** Mines a block whose transactions log so many values; every third one is empty. */
async function block(): Promise<void> {
  for (let i = mined % 3; i > 0; i--) {
    const value = BigInt(values.length)
    values.push(value)
    sent.push(...(await nodes.send(await signed({ to: contract, data: emit(value) }))))
  }
  await nodes.mine()
  mined++
}
const numbers = () => Array.from({ length: mined - 1 }, (_, i) => i + 2)

/** Resolves when both libraries were told of the newest block and of the newest value. */
async function caughtUp(): Promise<void> {
  await until(
    `both were told of block ${mined} and ${values.length} values: ${libraries
      .map(({ name, heads, values: seen }) => `${name} ${heads.at(-1)}, ${seen.length}`)
      .join('; ')}`,
    () =>
      Promise.resolve(
        libraries.every(({ heads, values: seen }) => heads.at(-1) === mined && seen.length >= values.length),
      ),
  )
}

t.test('heads, logs and pending transactions arrive', async t => {
  await metricIs(gateway, 'tollgate_calls_total', { method: 'eth_subscribe', outcome: 'ok' }, 6)
  t.equal(await sides(), 6)
  // Heads and pending transactions are shared; their filters of logs the libraries write differently.
  const upstream = { network: 'dev', side: 'upstream' }
  t.equal(await metric(gateway, 'tollgate_ws_subscriptions', upstream), 4)
  for (let i = 0; i < 5; i++) await block()
  await caughtUp()
  await until('all pending transactions were told', () =>
    Promise.resolve(libraries.every(({ pending }) => pending.length >= sent.length)),
  )
  for (const { name, heads, values: seen, pending } of libraries) {
    t.strictSame(heads, numbers(), `${name}: heads`)
    t.strictSame(seen, values, `${name}: logs`)
    t.strictSame(pending, sent, `${name}: pending transactions`)
  }
})

t.test('the node that serves is killed, and nobody notices', async t => {
  const open = await sockets()
  t.equal(open, 2)
  nodes.killFirst()
  for (let i = 0; i < 6; i++) await block()
  await caughtUp()
  for (let i = 0; i < 3; i++) await block()
  await caughtUp()
  for (const { name, heads, values: seen } of libraries) {
    t.strictSame(heads, numbers(), `${name}: heads are contiguous`)
    t.strictSame(seen, values, `${name}: logs are complete`)
  }
  const before = sent.length
  await block()
  const last = sent.slice(before)
  if (last.length === 0) {
    await block()
    last.push(...sent.slice(before))
  }
  await until('the last pending transactions were told', () =>
    Promise.resolve(libraries.every(({ pending }) => last.every(hash => pending.includes(hash)))),
  )
  await caughtUp()
  for (const { name, pending, troubles } of libraries) {
    t.equal(new Set(pending).size, pending.length, `${name}: no pending transaction twice`)
    t.strictSame(troubles, [], `${name}: no trouble`)
  }
  t.equal(await sockets(), open, 'the sockets are the ones they were')
  t.equal(await sides(), 6)
  t.equal(await viemClient.getBlockNumber({ cacheTime: 0 }), BigInt(mined), 'and calls are answered')
  t.equal(await provider.send('eth_blockNumber', []), `0x${mined.toString(16)}`)
})

t.test('whoever unsubscribes hears no more', async t => {
  for (const end of unwatch) end()
  await provider.removeAllListeners()
  await until('no subscription is left', async () => (await sides()) === 0)
  const before = libraries.map(({ heads }) => heads.length)
  await block()
  t.equal(await provider.send('eth_blockNumber', []), `0x${mined.toString(16)}`)
  t.strictSame(
    libraries.map(({ heads }) => heads.length),
    before,
  )
  await provider.destroy()
  const rpc = await viemClient.transport.getRpcClient()
  rpc.close()
  await until('no socket is left', async () => (await sockets()) === 0)
})
