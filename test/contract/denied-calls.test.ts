/** Calls that a node is at work on, or that wait for it, end with why their caller was denied meanwhile. */
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { meteredByMethod } from '../support/metered.ts'
import { metricIs } from '../support/metrics.ts'
import { held, result } from '../support/node-replies.ts'
import { startHttpNode } from '../support/scripted-http-node.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

interface Refused {
  readonly error: { readonly data: { readonly reason: string } }
}

/** More calls than a route has connections. */
const CALLS = 300

const node = await startNode(t, { chainId: 1001 })
const api = await startHttpNode(t)
const gateway = await startGateway(t, {
  methods: `families:
  evm:
    web3_sha3: { retry: safe }
    eth_sendRawTransaction: { retry: dedupe, sends: true }
  http: { "GET /slow": {} }
`,
  networks: { alpha: { chainId: 1001 }, beacon: { family: 'http', chainId: 'mainnet' } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url },
    { id: 'beacon-a', network: 'beacon', http: api.url },
  ],
  plans: { large: { tiers: ['any'] } },
})
const change = (accountId: string, status: 'active' | 'suspended') =>
  withAccounts(gateway, store => store.accounts.change(accountId, { status }))

t.test('bug: calls that waited for a connection were served and charged after a suspension', async t => {
  const access = await createAccess(gateway, 'large', 'alpha')
  const bystander = await createAccess(gateway, 'large', 'alpha')
  const gate = new Gate()
  node.on('web3_sha3', held(gate, result('"0x"')))
  const calls = Array.from({ length: CALLS }, (_, n) => access.post(message('web3_sha3', [`0x${n}`])))
  const other = bystander.post(message('web3_sha3', ['0xff']))
  await metricIs(gateway, 'tollgate_route_in_flight', { route: 'alpha-a' }, CALLS + 1)
  const sent = node.count('web3_sha3')
  t.ok(sent < CALLS, `${sent} of ${CALLS + 1} calls are at the node`)
  await change(access.accountId, 'suspended')
  const replies = await Promise.all(calls)
  t.strictSame(new Set(replies.map(({ status }) => status)), new Set([403]))
  t.strictSame(
    new Set(replies.map(({ text }) => (JSON.parse(text) as Refused).error.data.reason)),
    new Set(['account_suspended']),
  )
  gate.open()
  t.match(await other, { status: 200, text: '{"jsonrpc":"2.0","id":1,"result":"0x"}' })
  t.ok(node.count('web3_sha3') <= sent + 1, 'those that waited were not sent')
  await change(access.accountId, 'active')
  await until('it may call again', async () => (await access.post(message('net_version'))).status !== 403)
  const charged = (await meteredByMethod(access)).get('web3_sha3')?.requests ?? 0
  t.ok(charged <= sent, `${charged} of ${CALLS} calls were charged`)
})

t.test('a transaction that a node has is answered', async t => {
  const access = await createAccess(gateway, 'large', 'alpha')
  const gate = new Gate()
  node.on('eth_sendRawTransaction', held(gate, result('"0xaa"')))
  const call = access.post(message('eth_sendRawTransaction', ['0x02']))
  await until('it is there', () => Promise.resolve(gate.held === 1))
  await change(access.accountId, 'suspended')
  await until('it is noticed', async () =>
    (await access.post(message('web3_sha3'))).text.includes('account_suspended'),
  )
  gate.open()
  t.match(await call, { status: 200, text: '{"jsonrpc":"2.0","id":1,"result":"0xaa"}' })
})

t.test('a verbatim reply that has begun is cut', async t => {
  const access = await createAccess(gateway, 'large', 'beacon')
  let ended = 0
  api.on('/slow', (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('[1,')
    response.on('close', () => (ended += 1))
  })
  const reply = await fetch(`${gateway.url}${access.path}/slow`)
  t.equal(reply.status, 200)
  const text = reply.text()
  await change(access.accountId, 'suspended')
  await t.rejects(text)
  await until('the node is left', () => Promise.resolve(ended === 1))
})
