/**
 * A client that has sent a transaction finds it, and once it has seen a receipt no read of the newest block is older, though one of the two
 * nodes knows nothing of either. `ROUNDS` makes it longer.
 */
import { keccak_256 } from '@noble/hashes/sha3.js'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { inNewest, startLaggingPair } from '../support/lagging-pair.ts'
import { error, resetBeforeReply, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'

const chainId = 1001
const rounds = Number(process.env['ROUNDS'] ?? 25)
const pair = await startLaggingPair(t, chainId)
const [one, two] = pair.nodes
const [near, far] = [await startNode(t, { chainId }), await startNode(t, { chainId })]
const gateway = await startGateway(t, {
  networks: { alpha: { chainId }, beta: { chainId } },
  routes: [
    { id: 'alpha-one', network: 'alpha', http: one.url, ws: one.url.replace('http', 'ws') },
    { id: 'alpha-two', network: 'alpha', http: two.url },
    { id: 'beta-near', network: 'beta', http: near.url, methods: { deny: ['eth_sendRawTransactionSync'] } },
    { id: 'beta-far', network: 'beta', http: far.url, priority: 2 },
  ],
})
const access = await createAccess(gateway, 'paid', 'alpha')
const other = await createAccess(gateway, 'paid', 'alpha')
await gateway.headKnown('alpha')

const someone = `0x${'1'.repeat(40)}`
const latest: readonly (readonly [method: string, params: readonly unknown[]])[] = [
  ['eth_getBalance', [someone, 'latest']],
  ['eth_getTransactionCount', [someone, 'latest']],
  ['eth_call', [{ to: someone }]],
  ['eth_getLogs', [{ fromBlock: 'latest', toBlock: 'latest' }]],
  ['eth_blockNumber', []],
]

/** Makes a call and gives its whole reply. */
type Call = (method: string, params: readonly unknown[]) => Promise<{ readonly result: any }>

const client = await openClient(t, access)
/** The same calls, one behind the other, in each way in which a client may send them. */
const ways: Readonly<Record<string, Call>> = {
  HTTP: (method, params) => access.call(method, params),
  batch: async (method, params) => {
    const { text } = await access.post(`[${message(method, params)}]`)
    const [reply] = JSON.parse(text) as [{ result: any }]
    return reply
  },
  WebSocket: (method, params) => client.call(method, params),
}

/** Somebody else is shown how far each node has come, so that the next transaction may go to either. */
async function bothSeen(): Promise<void> {
  const count = (): number[] => [one, two].map(node => node.count('eth_getTransactionReceipt'))
  const before = count()
  while (count().some((times, n) => times === before[n]))
    await other.call('eth_getTransactionReceipt', [inNewest])
}

let sent = 0
for (const [name, call] of Object.entries(ways))
  t.test(`over ${name}, ${rounds} times`, async t => {
    for (let n = 0; n < rounds; n += 1) {
      sent += 1
      const before = one.head
      const { result: hash } = await call('eth_sendRawTransaction', [
        `0x02f8${sent.toString(16).padStart(64, '0')}`,
      ])
      const { result: nonce } = await call('eth_getTransactionCount', [someone, 'pending'])
      t.equal(Number(nonce), before + 1, 'the pending nonce counts it')
      t.match(
        await call('eth_getTransactionByHash', [hash]),
        { result: { hash } },
        'it is found while it is pending',
      )
      pair.mine()
      const { result: receipt } = await call('eth_getTransactionReceipt', [hash])
      t.match(receipt, { transactionHash: hash }, 'and so is its receipt')
      for (const [method, params] of latest) {
        const { result: answer } = await call(method, params)
        const block = Number(method === 'eth_getLogs' ? answer[0].blockNumber : answer)
        t.ok(block >= Number(receipt?.blockNumber), `${method} is not older than the receipt`)
      }
      pair.gossip()
      await bothSeen()
    }
  })

t.test('both nodes took transactions, and each call was charged once', async t => {
  for (const node of [one, two]) t.ok(node.count('eth_sendRawTransaction') > 0)
  const calls = 3 * rounds * (4 + latest.length)
  t.strictSame(await access.usage(), { requests: calls, calls })
})

t.test('a null of a route that has not taken it is not believed, and costs no retry', async t => {
  const beta = await createAccess(gateway, 'paid', 'beta')
  await gateway.headKnown('beta')
  const hash = `0x${'ab'.repeat(32)}`
  far.on('eth_sendRawTransaction', result(`"${hash}"`)).on('eth_getTransactionReceipt', result('null'))
  near.on('eth_sendRawTransaction', resetBeforeReply)
  near.on('eth_getTransactionReceipt', result('null'))
  t.equal((await beta.call('eth_sendRawTransaction', ['0x02f8'])).result, hash)
  const asked = async (params: readonly unknown[]): Promise<readonly [unknown, number, number]> => {
    const count = () => [near, far].map(node => node.count('eth_getTransactionReceipt'))
    const before = count()
    const { result: answer } = await beta.call('eth_getTransactionReceipt', params)
    const [atNear, atFar] = count().map((times, n) => times - before[n]!)
    return [answer, atNear!, atFar!]
  }
  t.strictSame(await asked([hash.toUpperCase().replace('X', 'x')]), [null, 0, 1], 'the one that took it')
  t.strictSame(await asked([`0x${'cd'.repeat(32)}`]), [null, 1, 0], 'of others nothing is known')
  far.on('eth_getTransactionReceipt', resetBeforeReply)
  const [answer, atNear] = await asked([hash])
  t.strictSame([answer, atNear], [null, 1], "while it fails the other's word is all there is")
})

t.test(
  'a send that is answered with a receipt makes its block a floor, and is looked up where it went',
  async t => {
    const beta = await createAccess(gateway, 'paid', 'beta')
    const hash = `0x${'ef'.repeat(32)}`
    const block = `0x${(far.head + 1).toString(16)}`
    const receipt = JSON.stringify({ transactionHash: hash, blockNumber: block })
    far.on('eth_sendRawTransactionSync', result(receipt))
    for (const node of [near, far])
      node.on('eth_getBalance', result('"0x0"')).on('eth_getTransactionByHash', result('null'))
    t.strictSame((await beta.call('eth_sendRawTransactionSync', ['0x02f8'])).result, JSON.parse(receipt))
    await beta.call('eth_getBalance', [someone, 'latest'])
    await beta.call('eth_getTransactionByHash', [hash])
    for (const method of ['eth_getBalance', 'eth_getTransactionByHash'])
      t.strictSame([near.count(method), far.count(method)], [0, 1], method)
  },
)

t.test('bug: a transaction whose receipt has not come in time is not looked up where it went', async t => {
  const beta = await createAccess(gateway, 'paid', 'beta')
  /** Whether the transaction is looked up at the other node, after it was sent and drew this error. */
  const isAskedElsewhere = async (code: number, data?: string): Promise<boolean> => {
    const raw = `0x02f8${(code + 40_000).toString(16).padStart(4, '0')}${data === undefined ? '00' : '01'}`
    const hash = `0x${Buffer.from(keccak_256(Buffer.from(raw.slice(2), 'hex'))).toString('hex')}`
    const said = { code, message: "The transaction was added to the mempool but wasn't processed in 2s." }
    far.on('eth_sendRawTransactionSync', error(JSON.stringify({ ...said, data: data ?? hash })))
    t.match(await beta.call('eth_sendRawTransactionSync', [raw]), { error: { ...said, data: data ?? hash } })
    const before = near.count('eth_getTransactionByHash')
    await beta.call('eth_getTransactionByHash', [hash])
    return near.count('eth_getTransactionByHash') > before
  }
  t.notOk(await isAskedElsewhere(4), 'it waits for a block')
  t.notOk(await isAskedElsewhere(5), 'it waits for an earlier nonce')
  t.ok(await isAskedElsewhere(4, `0x${'ab'.repeat(32)}`), 'another hash says nothing of it')
  t.ok(await isAskedElsewhere(6, '0x7'), 'nor does the nonce that is expected')
  t.ok(await isAskedElsewhere(-32000), 'nor any other error')
})
