/** What nodes and vendors report about missing data: another route is tried, and when every route reports it, the client gets the node's own error. */
import t from 'tap'
import { createPublicClient, http } from 'viem'
import { createAccesses } from '../support/accesses.ts'
import { startGateway } from '../support/gateway.ts'
import { error, result, type Handler } from '../support/node-replies.ts'
import { routesLookedAt } from '../support/route-status.ts'
import { startNode } from '../support/scripted-node.ts'

const hash = `0x${'ab12'.repeat(16)}`

/** Errors that another route may not have: code, message, and the params of the call that drew it. */
const words: readonly (readonly [code: number, message: string, params?: unknown[]])[] = [
  [-32000, 'height must be less than or equal to the current blockchain height'],
  [-32000, 'height is not available (requested height: 5, base height: 7)'],
  [-32000, 'trie does not (or did not) exist'],
  [-32000, 'Node state is pruned'],
  [-32000, 'body not found for block 5'],
  [-32000, 'version has either been pruned, or is for a future block'],
  [-32000, 'no state data'],
  [-32000, 'state not found for block 5'],
  [-32000, 'historical state not available in path scheme yet'],
  [-32000, 'no receipts data'],
  [-32000, 'safe block not found'],
  [-32000, 'finalized block not found'],
  [-32000, 'pending block is not available'],
  [-32602, 'block range extends beyond current head block'],
  [-32602, 'requested block range is in the future'],
  [-32000, `block ${hash} not found`, [hash]],
  [-32000, 'No state available for block 0x1312d00', ['0x1312d00']],
]
/** A vendor's complaint about the operator's key: another route answers, and no client reads it. */
const complaint = [-32000, 'apikey is on another chain'] as const

const poor = await startNode(t, { chainId: 1001 })
const rich = await startNode(t, { chainId: 1001 })
rich.otherwise(result('"rich"'))
const script: { now: readonly [number, string, unknown[]?] } = { now: words[0]! }
const complain: Handler = (request, response) => {
  const [code, message] = script.now
  return error(JSON.stringify({ code, message }))(request, response)
}
poor.otherwise(complain)

const methods = { test_read: { retry: 'safe', params: [0, 2] } } as const
const gateway = await startGateway(t, {
  networks: { mixed: { chainId: 1001, methods }, poor: { chainId: 1001, methods } },
  routes: [
    { id: 'mixed-poor', network: 'mixed', http: poor.url, priority: 1 },
    { id: 'mixed-rich', network: 'mixed', http: rich.url, priority: 2 },
    { id: 'poor-one', network: 'poor', http: poor.url, priority: 1 },
    { id: 'poor-other', network: 'poor', http: poor.url, priority: 2 },
  ],
})
await routesLookedAt(gateway)
const accesses = await createAccesses(gateway, 'paid', ['mixed', 'poor'])

t.test('one route reports it: the other one answers', async t => {
  for (const each of [...words, complaint]) {
    script.now = each
    const reply = await accesses.in('mixed').call('test_read', each[2] ?? [])
    t.match(reply, { result: 'rich' }, each[1])
  }
})

t.test('every route reports it: each is asked once, and its own error is the answer', async t => {
  for (const each of words) {
    script.now = each
    const before = poor.count('test_read')
    const { error } = await accesses.in('poor').call('test_read', each[2] ?? [])
    t.strictSame(error, { code: each[0], message: each[1] }, each[1])
    t.equal(poor.count('test_read') - before, 2, `${each[1]}: requests to the routes`)
  }
  script.now = complaint
  const { error } = await accesses.in('poor').call('test_read')
  t.match(error, { data: { reason: 'no_route' } })
  t.notMatch(JSON.stringify(error), /apikey/)
})

t.test('viem asks once for a tag that no node has', async t => {
  script.now = [-32000, 'finalized block not found']
  poor.on('eth_getBlockByNumber', complain)
  const client = createPublicClient({ transport: http(accesses.in('poor').url, { retryDelay: 1 }) })
  const finalized = (): number =>
    poor.requests.filter(
      ({ method, params }) => method === 'eth_getBlockByNumber' && params.includes('"finalized"'),
    ).length
  await t.rejects(client.getBlock({ blockTag: 'finalized' }), /finalized block not found/)
  t.equal(finalized(), 2, 'one request to each route')
})
