/** The blocks of `finalized` and `safe` never go back for one caller, whichever of two routes answers. */
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { reply, type Handler } from '../support/node-replies.ts'
import { routesLookedAt } from '../support/route-status.ts'
import type { ScriptedNode } from '../support/scripted-node.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const chainId = 1001
const heights = new Map<ScriptedNode, number>()
/** Answers with the settled block of the node, whatever tag is asked for; `latest` is the same on both. */
const settled =
  (node: ScriptedNode, result: (number: string) => string): Handler =>
  (request, response) => {
    const isSettled = /"(finalized|safe)"/.test(request.params)
    const number = `0x${(isSettled ? heights.get(node)! : node.head).toString(16)}`
    return reply(200, id => `{"jsonrpc":"2.0","id":${id},"result":${result(number)}}`)(request, response)
  }
const [fast, slow] = [
  await startSocketNode(t, { chainId, head: 1000 }),
  await startSocketNode(t, { chainId, head: 1000 }),
]
heights.set(fast, 936).set(slow, 900)
for (const node of heights.keys()) {
  node.on(
    'eth_getBlockByNumber',
    settled(node, number => `{"number":"${number}"}`),
  )
  node.on(
    'eth_getBlockReceipts',
    settled(node, number => `[{"blockNumber":"${number}"}]`),
  )
  for (const method of ['eth_call', 'eth_getBalance'])
    node.on(
      method,
      settled(node, number => `"${number}"`),
    )
}
const gateway = await startGateway(t, {
  networks: { alpha: { chainId, share: false } },
  routes: [
    { id: 'alpha-fast', network: 'alpha', http: fast.url, ws: fast.wsUrl },
    { id: 'alpha-slow', network: 'alpha', http: slow.url, ws: slow.wsUrl },
  ],
})
await routesLookedAt(gateway)

const someone = `0x${'1'.repeat(40)}`
type Call = (method: string, params: readonly unknown[]) => Promise<any>
const reads: readonly ((call: Call, tag: string) => Promise<number>)[] = [
  async (call, tag) => Number((await call('eth_getBlockByNumber', [tag, false])).result.number),
  async (call, tag) => Number((await call('eth_getBlockReceipts', [tag])).result[0].blockNumber),
  async (call, tag) => Number((await call('eth_getBalance', [someone, tag])).result),
  async (call, tag) => Number((await call('eth_call', [{ to: someone }, tag])).result),
  async (call, tag) => Number((await call('eth_call', [{ to: someone }, { blockNumber: tag }])).result),
]

for (const tag of ['finalized', 'safe'])
  for (const transport of ['HTTP', 'WebSocket'])
    t.test(`${tag} over ${transport}`, async t => {
      heights.set(fast, 936).set(slow, 900)
      const access = await createAccess(gateway, 'paid', 'alpha')
      const client = transport === 'HTTP' ? access : await openClient(t, access)
      const call: Call = (method, params) => client.call(method, params)
      const [block] = reads
      await until('the newer block has been read', async () => (await block!(call, tag)) === 936)
      for (const read of reads) for (let n = 0; n < 10; n += 1) t.equal(await read(call, tag), 936)
      const spread = slow.count('eth_getBalance')
      await until('latest is read from both', async () => {
        await call('eth_getBalance', [someone, 'latest'])
        return slow.count('eth_getBalance') > spread
      })
    })

t.test('a route that has caught up serves the tag again', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  heights.set(slow, 936)
  const before = slow.count('eth_getBalance')
  await until('the slower route serves it', async () => {
    t.equal(Number((await access.call('eth_getBalance', [someone, 'finalized'])).result), 936)
    return slow.count('eth_getBalance') > before
  })
})
