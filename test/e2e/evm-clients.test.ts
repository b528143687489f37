import t, { type Test } from 'tap'
import { JsonRpcProvider, Network, Wallet, isError } from 'ethers'
import {
  BaseError,
  RpcRequestError,
  createPublicClient,
  createWalletClient,
  http,
  parseEther,
  type Hex,
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil as anvilChain } from 'viem/chains'
import { createAccess } from '../support/accounts.ts'
import { startAnvil } from '../support/anvil.ts'
import { allCapabilities } from '../support/config-files.ts'
import { evmCosts, specifiedCosts } from '../support/costs.ts'
import { emit, emitterAbi, emitterCode } from '../support/emitter-contract.ts'
import { startGateway } from '../support/gateway.ts'
import { startRecordingProxy } from '../support/recording-proxy.ts'

// Keys that anvil gives money to, known to everybody.
const viemKey = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const ethersKey = '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d'

const anvil = await startAnvil(t, ['--chain-id', '31337', '--steps-tracing'])
const gateway = await startGateway(t, {
  networks: { dev: { chainId: 31_337 } },
  routes: [{ id: 'dev-a', network: 'dev', http: anvil.url, capabilities: allCapabilities }],
})
const access = await createAccess(gateway, 'paid', 'dev')
const line = await startRecordingProxy(t, access.url)

const account = privateKeyToAccount(viemKey)
const viemOptions = { chain: anvilChain, pollingInterval: 50, cacheTime: 0 } as const
const viemSingle = createPublicClient({ ...viemOptions, transport: http(line.url, { retryCount: 0 }) })
const viemBatched = createPublicClient({
  ...viemOptions,
  transport: http(line.url, { retryCount: 0, batch: { batchSize: 50, wait: 20 } }),
})
const viemWallet = createWalletClient({
  ...viemOptions,
  account,
  transport: http(line.url, { retryCount: 0 }),
})

const ethersProvider = (batchMaxCount: number) => {
  const staticNetwork = Network.from(31_337)
  const provider = new JsonRpcProvider(line.url, staticNetwork, {
    staticNetwork,
    batchMaxCount,
    batchStallTime: 20,
    cacheTimeout: -1,
    pollingInterval: 50,
  })
  t.teardown(() => {
    provider.destroy()
  })
  return provider
}
const ethersSingle = ethersProvider(1)
const ethersBatched = ethersProvider(50)

/** What a call came to, as far as every library tells it. */
interface Outcome {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

async function direct(method: string, params: unknown): Promise<Outcome> {
  const { result, error } = await anvil.call(method, params)
  return error === undefined ? { result } : { error: { code: error.code, message: error.message } }
}

const throughViem =
  (client: typeof viemSingle) =>
  async (method: string, params: unknown): Promise<Outcome> => {
    try {
      return { result: await client.request({ method, params } as never) }
    } catch (error) {
      const cause = error instanceof BaseError ? error.walk(one => one instanceof RpcRequestError) : null
      if (!(cause instanceof RpcRequestError)) throw error
      return { error: { code: cause.code, message: cause.details } }
    }
  }

const throughEthers =
  (provider: JsonRpcProvider) =>
  async (method: string, params: unknown): Promise<Outcome> => {
    try {
      return { result: await provider.send(method, params as unknown[]) }
    } catch (error: any) {
      const { code, message } = error.error ?? error.info?.error ?? {}
      if (typeof code !== 'number') throw error
      return { error: { code, message } }
    }
  }

const libraries: [name: string, ask: typeof direct][] = [
  ['viem', throughViem(viemSingle)],
  ['viem in batches', throughViem(viemBatched)],
  ['ethers', throughEthers(ethersSingle)],
  ['ethers in batches', throughEthers(ethersBatched)],
]

let contract: Hex = '0x'
let sent: Hex = '0x'

t.test('viem deploys a contract, calls it by transaction and reads its log', async t => {
  const deployment = await viemWallet.sendTransaction({ data: emitterCode })
  const deployed = await viemSingle.waitForTransactionReceipt({ hash: deployment })
  t.equal(deployed.status, 'success')
  contract = deployed.contractAddress!
  sent = await viemWallet.sendTransaction({ to: contract, data: emit(7n) })
  const receipt = await viemBatched.waitForTransactionReceipt({ hash: sent })
  t.equal(receipt.status, 'success')
  t.equal(receipt.logs.length, 1)
  const logs = await viemSingle.getContractEvents({ address: contract, abi: emitterAbi, fromBlock: 0n })
  t.strictSame(
    logs.map(({ args, transactionHash }) => [args.value, transactionHash]),
    [[7n, sent]],
  )
  t.equal(await viemSingle.getStorageAt({ address: contract, slot: '0x0' }), `0x${'0'.repeat(62)}2a`)
  t.equal((await viemBatched.call({ to: contract, data: emit(1n) })).data, `0x${'0'.repeat(62)}2a`)
  const { proof } = await viemSingle
    .getProof({ address: contract, storageKeys: [`0x${'0'.repeat(64)}`] })
    .then(({ storageProof }) => storageProof[0]!)
  t.ok(proof.length > 0)
})

t.test('ethers sends a transaction, waits for it and reads the log', async t => {
  const wallet = new Wallet(ethersKey, ethersSingle)
  const before = await ethersSingle.getBalance(account.address)
  const payment = await wallet.sendTransaction({ to: account.address, value: parseEther('1') })
  const receipt = await payment.wait()
  t.equal(receipt?.status, 1)
  t.equal((await ethersBatched.getBalance(account.address)) - before, parseEther('1'))
  const called = await wallet.sendTransaction({ to: contract, data: emit(8n) })
  await called.wait()
  const logs = await ethersBatched.getLogs({ address: contract, fromBlock: 0, toBlock: 'latest' })
  t.strictSame(
    logs.map(({ data }) => BigInt(data)),
    [7n, 8n],
  )
  const block = await ethersSingle.getBlock('latest', true)
  t.equal(block?.prefetchedTransactions[0]?.hash, called.hash)
})

t.test('a transaction that was sent before is not an accident', async t => {
  const raw = await account.signTransaction({
    ...(await viemSingle.prepareTransactionRequest({
      account,
      to: account.address,
      value: 1n,
      type: 'eip1559',
    })),
    chainId: 31_337,
  } as never)
  const first = await direct('eth_sendRawTransaction', [raw])
  t.match(first, { result: /^0x[0-9a-f]{64}$/ })
  // The node says something else of it while it is not in a block.
  await viemSingle.waitForTransactionReceipt({ hash: first.result as `0x${string}` })
  const node = await direct('eth_sendRawTransaction', [raw])
  const again = await access.call('eth_sendRawTransaction', [raw])
  // What the node takes for known is a success with the hash; another refusal of it comes through.
  if (again.result === undefined)
    t.strictSame(again.error, (await anvil.call('eth_sendRawTransaction', [raw])).error)
  else t.equal(again.result, first.result)
  t.ok(node.error !== undefined || node.result === first.result)
})

/** Every EVM method that the specification names, with params on the chain that the first tests made. */
async function everyMethod(): Promise<[method: string, params: unknown[], directParams?: unknown[]][]> {
  const receipt = (await anvil.call('eth_getTransactionReceipt', [sent])).result
  const { blockNumber, blockHash, transactionIndex } = receipt
  const { address } = account
  const input = { from: address, to: contract, data: emit(9n) }
  const tracer = { tracer: 'callTracer' }
  return [
    ['eth_chainId', []],
    ['eth_blockNumber', []],
    ['eth_call', [input]],
    ['eth_call', [input, blockNumber]],
    ['eth_call', [{ to: contract, data: '0x' }, 'latest']],
    ['eth_feeHistory', ['0x4', 'latest']],
    ['eth_feeHistory', ['0x4', 'latest', [25, 75]]],
    ['eth_feeHistory', ['0x4', 'latest', '[25, 75]'], ['0x4', 'latest', [25, 75]]],
    ['eth_getTransactionCount', [address]],
    ['eth_getTransactionCount', [address, 'latest']],
    ['eth_getTransactionCount', [address, '0x0']],
    ['eth_getTransactionByBlockNumberAndIndex', [blockNumber, transactionIndex]],
    ['eth_getTransactionByBlockHashAndIndex', [blockHash, transactionIndex]],
    ['eth_getBlockReceipts', [blockNumber]],
    ['eth_getBlockReceipts', [blockHash]],
    ['eth_getBlockReceipts', ['latest']],
    ['eth_getBlockByNumber', [blockNumber, true]],
    ['eth_getBlockByNumber', ['latest', false]],
    ['eth_getBlockByNumber', ['0xffffff', false]],
    ['eth_getBlockByHash', [blockHash, false]],
    ['eth_getBalance', [address, 'latest']],
    ['eth_getBalance', [address, '0x0']],
    ['eth_getCode', [contract]],
    ['eth_getCode', [contract, 'latest']],
    ['eth_getStorageAt', [contract, '0x0', 'latest']],
    ['eth_getProof', [contract, ['0x0'], 'latest']],
    ['eth_getLogs', [{ address: contract, fromBlock: '0x0', toBlock: 'latest' }]],
    ['eth_getLogs', [{ address: contract, blockHash }]],
    ['eth_getTransactionByHash', [sent]],
    ['eth_getTransactionReceipt', [sent]],
    ['eth_getTransactionReceipt', [`0x${'ab'.repeat(32)}`]],
    ['debug_traceTransaction', [sent, tracer]],
    ['debug_traceTransaction', [sent, JSON.stringify(tracer)], [sent, tracer]],
    ['debug_traceCall', [input, 'latest', tracer]],
    ['debug_traceCall', [input, 'latest', JSON.stringify(tracer)], [input, 'latest', tracer]],
    ['debug_traceBlockByNumber', [blockNumber, tracer]],
    ['debug_traceBlockByNumber', [blockNumber, JSON.stringify(tracer)], [blockNumber, tracer]],
    ['debug_traceBlockByHash', [blockHash, tracer]],
    ['trace_transaction', [sent]],
    ['trace_filter', [{ fromBlock: '0x1', toBlock: blockNumber, fromAddress: [address] }]],
    ['trace_filter', [{ fromBlock: '0x1', toBlock: blockNumber, toAddress: [contract], after: 0, count: 1 }]],
    ['trace_block', [blockNumber]],
    ['trace_call', [input, ['trace'], 'latest']],
    ['trace_get', [sent, ['0x0']]],
    ['trace_replayTransaction', [sent, ['trace']]],
    ['txpool_status', []],
    ['txpool_content', []],
    ['txpool_inspect', []],
    ['txpool_contentFrom', [address]],
  ]
}

/** Asks every method of a library, all in one go, and holds each answer against the node's own. */
async function sameAsDirect(t: Test, ask: typeof direct): Promise<void> {
  const methods = await everyMethod()
  const outcomes = await Promise.all(methods.map(([method, params]) => ask(method, params)))
  for (const [i, [method, params, directParams = params]] of methods.entries())
    t.strictSame(
      outcomes[i],
      await direct(method, directParams),
      `${method} ${JSON.stringify(params).slice(0, 80)}`,
    )
}

t.test('every method that the specification names answers as the node itself', async t => {
  await anvil.mine(200)
  for (const method of Object.keys(specifiedCosts))
    t.ok(
      (await everyMethod()).some(([name]) => name === method),
      `${method} is among them`,
    )
  for (const [name, ask] of libraries) await t.test(name, async t => sameAsDirect(t, ask))
})

t.test('batches of the libraries were batches on the line', t => {
  const lengths = line.exchanges.map(({ request }) => (Array.isArray(request) ? request.length : 0))
  t.equal(
    lengths.filter(length => length >= 40).length >= 2,
    true,
    `lengths: ${lengths.filter(Boolean).join()}`,
  )
  t.end()
})

t.test('a revert reaches the libraries as what it is', async t => {
  // PUSH0 PUSH0 REVERT as creation code.
  const data = '0x5f5ffd'
  await t.rejects(viemSingle.call({ data }), { name: 'CallExecutionError' })
  const refusal: unknown = await ethersSingle.call({ data }).catch((error: unknown) => error)
  t.ok(isError(refusal, 'CALL_EXCEPTION'), String(refusal))
})

t.test('what was charged is the sum of what was answered', async t => {
  const costOf = await evmCosts()
  // The one call of this file that did not go over the recorded line.
  let requests = costOf('eth_sendRawTransaction')
  let calls = 1
  for (const { method, reply } of line.calls()) {
    const refused = reply?.error?.data?.reason !== undefined
    t.notSame(reply, null, `${method} was answered`)
    if (refused) continue
    requests += costOf(method)
    calls++
  }
  t.ok(calls > 200, `calls: ${calls}`)
  t.same(await access.usage(), { requests, calls })
})
