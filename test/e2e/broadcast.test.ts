/** Two real nodes of one chain that do not gossip: what viem sends reaches both, and each finds it in the block that it mines. */
import t from 'tap'
import { createPublicClient, createWalletClient, http, parseEther, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { anvil as anvilChain } from 'viem/chains'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { startLockstepAnvils } from '../support/lockstep-anvils.ts'
import { until } from '../support/until.ts'

// A key that anvil gives money to, known to everybody.
const account = privateKeyToAccount('0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80')
const sends = 3

const pair = await startLockstepAnvils(t)
const gateway = await startGateway(t, {
  networks: { dev: { chainId: 31_337, broadcast: 2 } },
  routes: [
    { id: 'dev-a', network: 'dev', http: pair.a.url },
    { id: 'dev-b', network: 'dev', http: pair.b.url, priority: 2 },
  ],
})
const access = await createAccess(gateway, 'paid', 'dev')
await gateway.headKnown('dev')
const options = { chain: anvilChain, pollingInterval: 50, transport: http(access.url, { retryCount: 0 }) }
const client = createPublicClient(options)
const wallet = createWalletClient({ ...options, account })

const has = async (node: typeof pair.a, hash: Hex): Promise<boolean> =>
  ((await node.call('eth_getTransactionByHash', [hash])) as { result: unknown }).result !== null

t.test('what is sent is in both pools, answered with one hash, and charged once', async t => {
  const hashes: Hex[] = []
  let last: Hex = '0x'
  for (let nonce = 0; nonce < sends; nonce += 1) {
    const request = await wallet.prepareTransactionRequest({ to: account.address, value: parseEther('1') })
    t.equal(request.nonce, nonce, 'the next nonce counts what was sent')
    last = await wallet.signTransaction(request)
    const hash = await client.sendRawTransaction({ serializedTransaction: last })
    hashes.push(hash)
    for (const node of [pair.a, pair.b]) await until(`a node has ${hash}`, () => has(node, hash))
  }
  t.equal(
    await client.sendRawTransaction({ serializedTransaction: last }),
    hashes.at(-1),
    'again: the same hash',
  )
  await pair.mine()
  for (const hash of hashes) {
    const { status, blockNumber } = await client.waitForTransactionReceipt({ hash })
    t.strictSame([status, blockNumber], ['success', 1n])
  }
  const used = await account.signTransaction({
    to: account.address,
    nonce: 0,
    gas: 21_000n,
    chainId: 31_337,
    maxFeePerGas: parseEther('0.000001'),
    maxPriorityFeePerGas: 1n,
    value: 2n,
  })
  await t.rejects(client.sendRawTransaction({ serializedTransaction: used }), /nonce/i, 'what all refuse')
  const { rows } = await access.managed('service_usage', [{ by: 'day', endpointId: access.endpointId }])
  const own = (rows as { method: string; calls: number; requests: number }[]).filter(
    ({ method }) => method === 'eth_sendRawTransaction',
  )
  t.match(own, [{ calls: sends + 2, requests: sends + 2 }], 'each is charged once')
})
