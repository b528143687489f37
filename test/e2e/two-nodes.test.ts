import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { Wallet, parseEther } from 'ethers'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startAnvil, type Anvil } from '../support/anvil.ts'
import { startGateway } from '../support/gateway.ts'
import { routesLookedAt, routesOf } from '../support/route-status.ts'
import { until } from '../support/until.ts'

// A key that anvil gives money to, known to everybody.
const key = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const chainId = 31_337
const genesis = 1_900_000_000
const args = ['--chain-id', String(chainId), '--no-mining', '--timestamp', String(genesis)]
const a = await startAnvil(t, args)
const b = await startAnvil(t, args)
// Whatever happens, the node that was stopped can hear that it is to end.
t.teardown(() => process.kill(a.pid, 'SIGCONT'))

let time = genesis

/** Two nodes are one chain as long as both are told the same in the same order. */
async function mine(nodes: readonly Anvil[], transactions: readonly string[] = []): Promise<void> {
  time += 12
  for (const node of nodes) {
    for (const transaction of transactions) await node.call('eth_sendRawTransaction', [transaction])
    await node.call('evm_setNextBlockTimestamp', [time])
    await node.call('evm_mine')
  }
}

const wallet = new Wallet(key)
const receiver = `0x${'ab'.repeat(20)}`

async function transfer(nonce: number): Promise<string> {
  const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 1n, gasLimit: 21_000n }
  const to = { to: receiver, value: parseEther('1') }
  return wallet.signTransaction({ type: 2, chainId, nonce, ...fees, ...to })
}

for (let nonce = 0; nonce < 4; nonce++) await mine([a, b], [await transfer(nonce)])
const blocks = await Promise.all([a, b].map(blocksOf))
/** The transactions, in the order of their blocks. */
const hashes: string[] = blocks[0]!.flatMap(({ result }) => result.transactions as string[])

/** The replies to reading the four blocks that were mined. */
async function blocksOf(node: Anvil): Promise<any[]> {
  const numbers = ['0x1', '0x2', '0x3', '0x4']
  return Promise.all(numbers.map(number => node.call('eth_getBlockByNumber', [number, false])))
}

const gateway = await startGateway(t, {
  networks: { dev: { chainId } },
  routes: [
    { id: 'dev-a', network: 'dev', http: a.url, timeout: '2s' },
    { id: 'dev-b', network: 'dev', http: b.url },
  ],
})
const access = await createAccess(gateway, 'paid', 'dev')

await routesLookedAt(gateway)

/** What the clients read in turn, and what is right whatever node answers. */
const reads: [method: string, params: unknown[], right: (result: any) => boolean][] = [
  ['eth_getBalance', [receiver, '0x4'], result => BigInt(result) === parseEther('4')],
  ['eth_getBalance', [receiver, 'latest'], result => BigInt(result) === parseEther('4')],
  [
    'eth_getTransactionReceipt',
    [hashes[0]],
    receipt => receipt.status === '0x1' && receipt.blockNumber === '0x1',
  ],
  ['eth_getBlockByNumber', ['0x2', true], ({ transactions }) => transactions[0].hash === hashes[1]],
  ['eth_getTransactionCount', [wallet.address, 'latest'], result => result === '0x4'],
  ['eth_call', [{ to: receiver, data: '0x' }, 'latest'], result => result === '0x'],
]

/** Reads that are over, those that went wrong as the client saw them, and those begun since the node was stopped. */
const seen = { all: 0, since: 0, wrong: [] as string[] }
let stopped = false
let over = false

async function client(nth: number): Promise<void> {
  let newest = 0
  for (let i = nth; !over; i++) {
    const since = stopped
    const [method, params, right] = reads[i % reads.length]!
    const { status, text } = await access.post(message(method, params, i))
    const reply = JSON.parse(text)
    if (status !== 200 || reply.id !== i || reply.error !== undefined || !right(reply.result))
      seen.wrong.push(`${method}: ${status} ${text}`)
    const head = Number((await access.call('eth_blockNumber')).result)
    if (!(head >= newest)) seen.wrong.push(`head ${head} after ${newest}`)
    newest = head
    seen.all += 2
    if (since) seen.since += 2
    await pause(20)
  }
}

t.test('the two nodes are one chain', t => {
  t.strictSame(blocks[0], blocks[1])
  t.equal(hashes.length, 4)
  t.end()
})

t.test('a node that stops in the middle of a load is not noticed by clients', async t => {
  const clients = Array.from({ length: 8 }, (_, nth) => client(nth))
  await until('the load is under way', () => Promise.resolve(seen.all > 300))
  process.kill(a.pid, 'SIGSTOP')
  stopped = true
  // The other node goes on, and so does the chain.
  for (let i = 0; i < 3; i++) {
    const before = seen.since
    await mine([b])
    await until('reads go on', () => Promise.resolve(seen.since > before + 100))
  }
  const out = await until('the gateway sees it', async () =>
    (await routesOf(gateway)).find(({ healthy }) => !healthy),
  )
  t.equal(out.id, 'dev-a')
  const before = seen.since
  await until('reads go on without it', () => Promise.resolve(seen.since > before + 300))
  over = true
  await Promise.all(clients)
  t.same(seen.wrong.slice(0, 5), [], 'every read was answered, and rightly')
  t.match(await access.call('eth_blockNumber'), { result: '0x7' })
})

t.test('the node that comes back serves again', async t => {
  process.kill(a.pid, 'SIGCONT')
  time -= 36
  for (let i = 0; i < 3; i++) await mine([a])
  const newest = await a.call('eth_getBlockByNumber', ['0x7', false])
  t.strictSame(newest, await b.call('eth_getBlockByNumber', ['0x7', false]), 'still one chain')
  const isWell = async () => {
    const { error } = await access.call('eth_getBalance', [receiver, '0x4'])
    if (error !== undefined) throw new Error(JSON.stringify(error))
    return (await routesOf(gateway)).every(({ healthy, lag }) => healthy && lag === 0)
  }
  // Each time that it was looked at in vain has doubled its pause.
  await until('the route is well again', isWell, 60_000)
})
