/** Answers about another block or transaction than the one that was asked for: what a crossed reply or a stale cache upstream gives. */
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccesses } from '../support/accesses.ts'
import type { NetworkYaml, RouteYaml } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { result, type Handler } from '../support/node-replies.ts'
import { startNode, type ScriptedNode } from '../support/scripted-node.ts'

const chainId = 1001
const own = `0x${'ab'.repeat(32)}`
const other = `0x${'cd'.repeat(32)}`
const zero = `0x${'00'.repeat(32)}`
const range = { fromBlock: '0x5', toBlock: '0x8' }

/** A call, and what its first node says. */
interface Case {
  readonly method: string
  readonly params: readonly unknown[]
  readonly says: string
  /** What the second node says, where it has to be asked. */
  readonly then?: string
}

/** Answers that are about something else. */
const wrong: readonly Case[] = [
  {
    method: 'eth_getBlockByNumber',
    params: ['0x5', false],
    says: '{"number":"0x6"}',
    then: '{"number":"0x05"}',
  },
  { method: 'eth_getHeaderByNumber', params: ['0x5'], says: '{"number":"0x50"}', then: '{"number":5}' },
  {
    method: 'eth_getBlockByHash',
    params: [own, false],
    says: `{"hash":"${other}"}`,
    then: `{"hash":"${own}"}`,
  },
  { method: 'eth_getHeaderByHash', params: [own], says: `{"hash":"${other}"}`, then: 'null' },
  {
    method: 'eth_getTransactionByHash',
    params: [own],
    says: `{"blockNumber":"0x5","hash":"${other}"}`,
    then: `{"blockNumber":"0x5","hash":"${own}"}`,
  },
  {
    method: 'eth_getTransactionByBlockNumberAndIndex',
    params: ['0x5', '0x0'],
    says: '{"blockNumber":"0x4"}',
    then: '{"blockNumber":"0x5"}',
  },
  {
    method: 'eth_getTransactionByBlockHashAndIndex',
    params: [own, '0x0'],
    says: `{"blockHash":"${other}"}`,
    then: `{"blockHash":"${own}"}`,
  },
  {
    method: 'eth_getTransactionReceipt',
    params: [own],
    says: `{"transactionHash":"${other}"}`,
    then: `{"transactionHash":"${own}"}`,
  },
  {
    method: 'eth_getBlockReceipts',
    params: ['0x5'],
    says: '[{"blockNumber":"0x6"}]',
    then: '[{"blockNumber":"0x5"}]',
  },
  {
    method: 'eth_getBlockReceipts',
    params: [own],
    says: `[{"blockHash":"${other}"}]`,
    then: `[{"blockHash":"${own}"}]`,
  },
  {
    method: 'eth_getBlockReceipts',
    params: [{ blockHash: own }],
    says: `[{"blockHash":"${other}"}]`,
    then: '[]',
  },
  { method: 'eth_getLogs', params: [{ blockHash: own }], says: `[{"blockHash":"${other}"}]`, then: '[]' },
  {
    method: 'eth_getLogs',
    params: [range],
    says: '[{"blockNumber":"0x9"}]',
    then: '[{"blockNumber":"0x8"}]',
  },
  {
    method: 'eth_getLogs',
    params: [{ ...range, address: own }],
    says: '[{"blockNumber":"0x4"}]',
    then: '[]',
  },
  { method: 'eth_getLogs', params: [{ fromBlock: '0x5' }], says: '[{"blockNumber":"0x4"}]', then: '[]' },
  { method: 'trace_transaction', params: [own], says: `[{"transactionHash":"${other}"}]`, then: '[]' },
  { method: 'trace_block', params: ['0x5'], says: '[{"blockNumber":6}]', then: '[{"blockNumber":5}]' },
]

/** Answers that say the same in other words, or from which nobody can tell. */
const taken: readonly Case[] = [
  { method: 'eth_getBlockByNumber', params: ['0x5', true], says: '{"number":"0x0005"}' },
  { method: 'eth_getBlockByNumber', params: ['0x7', false], says: '{"number":null}' },
  { method: 'eth_getBlockByNumber', params: ['0x8', false], says: '{"hash":"0x1"}' },
  { method: 'eth_getBlockByNumber', params: ['finalized', false], says: '{"number":"0x3"}' },
  { method: 'eth_getBlockByNumber', params: ['pending', false], says: `{"number":"0x3","hash":"${zero}"}` },
  {
    method: 'eth_getBlockByHash',
    params: [own.toUpperCase().replace('X', 'x'), false],
    says: `{"hash":"${own}"}`,
  },
  { method: 'eth_getBlockByHash', params: [own, true], says: `{"hash":"\\u0030${own.slice(1)}"}` },
  { method: 'eth_getTransactionByHash', params: [other], says: `{"hash":"${zero}"}` },
  { method: 'eth_getTransactionByHash', params: ['0x01'], says: `{"hash":"${other}"}` },
  { method: 'eth_getTransactionReceipt', params: [other], says: 'null' },
  { method: 'eth_getLogs', params: [{ fromBlock: 'latest' }], says: '[{"blockNumber":"0x1"}]' },
  { method: 'eth_getLogs', params: [{ ...range, address: other }], says: '[]' },
  { method: 'eth_call', params: [{}, '0x5'], says: '{"number":"0x6"}' },
]

const cases = [...wrong, ...taken]
const textOf = ({ params }: Pick<Case, 'params'>): string => JSON.stringify(params)

/** Answers each call of a method as its case says. */
function script(node: ScriptedNode, says: (one: Case) => string): void {
  for (const { method } of cases) {
    const answers = new Map(cases.filter(one => one.method === method).map(one => [textOf(one), says(one)]))
    const answer: Handler = (request, response) =>
      result(answers.get(request.params) ?? 'null')(request, response)
    node.on(method, answer)
  }
}

const [bad, good] = [await startNode(t, { chainId }), await startNode(t, { chainId })]
script(bad, ({ says }) => says)
script(good, ({ then = '"not asked"' }) => then)
const lone = await startNode(t, { chainId })
const ports = new Set<number>()
lone.on('eth_getTransactionReceipt', (request, response) => {
  ports.add(response.socket!.remotePort!)
  return result(`{"transactionHash":"${other}"}`)(request, response)
})
const networks: Record<string, NetworkYaml> = {
  alone: { chainId },
  lenient: {
    chainId,
    methods: { eth_getTransactionReceipt: { is: 'none' }, eth_getHeaderByNumber: { is: 'none' } },
  },
}
const routes: RouteYaml[] = [
  { id: 'alone-a', network: 'alone', http: lone.url },
  { id: 'lenient-a', network: 'lenient', http: bad.url },
]
for (const [at] of cases.entries()) {
  const slug = `case-${at}`
  networks[slug] = { chainId }
  const capabilities = ['trace', 'archive']
  routes.push({ id: `${slug}-a`, network: slug, http: bad.url, capabilities })
  routes.push({ id: `${slug}-b`, network: slug, http: good.url, capabilities, priority: 2 })
}
const gateway = await startGateway(t, { networks, routes })
const accesses = await createAccesses(gateway, 'paid', Object.keys(networks))

const asked = (node: ScriptedNode, one: Case): number =>
  node.requests.filter(
    // A tag that clients read is probed, under id 1.
    ({ id, method, params }) => id !== '1' && method === one.method && params === textOf(one),
  ).length

const replies = new Map<Case, string>()
for (const [at, one] of cases.entries()) {
  const { text } = await accesses.in(`case-${at}`).post(message(one.method, one.params))
  replies.set(one, text)
}
const usage = await accesses.usage()

for (const [at, one] of cases.entries()) {
  const { method, says, then } = one
  const outcome = then === undefined ? 'is the answer' : 'is asked of another route'
  t.test(`${method} ${textOf(one).slice(0, 40)}: ${says.slice(0, 40)} ${outcome}`, async t => {
    t.equal(replies.get(one), `{"jsonrpc":"2.0","id":1,"result":${then ?? says}}`)
    t.strictSame([asked(bad, one), asked(good, one)], [1, then === undefined ? 0 : 1])
    t.equal(usage.get(`case-${at}`)?.calls, 1)
    const faults = await metric(gateway, 'tollgate_attempts_total', {
      network: `case-${at}`,
      route: `case-${at}-a`,
      result: 'wrong_answer',
    })
    t.equal(faults, then === undefined ? 0 : 1)
  })
}

t.test(
  'a route that is alone is asked once more, over another connection, and what it says is not passed on',
  async t => {
    const access = accesses.in('alone')
    const { status, json } = await access
      .post(message('eth_getTransactionReceipt', [own]))
      .then(({ status, text }) => ({ status, json: JSON.parse(text) }))
    t.equal(status, 502)
    t.match(json.error, { code: -32603, data: { reason: 'upstream_error' } })
    t.strictSame([lone.count('eth_getTransactionReceipt'), ports.size], [2, 2])
    t.strictSame(await access.usage(), { requests: 0, calls: 0 })
  },
)

t.test('a network may have its answers taken as they are', async t => {
  const access = accesses.in('lenient')
  t.equal((await access.call('eth_getTransactionReceipt', [own])).result.transactionHash, other)
  t.equal((await access.call('eth_getHeaderByNumber', ['0x5'])).result.number, '0x50')
})

t.test('three of them in a row open the breaker of the route, in a batch as well', async t => {
  const access = accesses.in('case-0')
  const before = bad.count('eth_getBlockByNumber')
  for (let n = 0; n < 3; n += 1) {
    const one = message('eth_getBlockByNumber', ['0x5', false])
    const { text } = await access.post(`[${one},${message('eth_chainId', [], 2)}]`)
    t.match(JSON.parse(text), [{ result: { number: '0x05' } }, { result: '0x3e9' }])
  }
  t.equal(bad.count('eth_getBlockByNumber') - before, 2, 'with the first one of above')
})
