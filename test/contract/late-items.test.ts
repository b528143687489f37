/** What begins long after its message came (later items of a batch, another attempt, a stream whose head is late) is for who the caller is then. */
import { once } from 'node:events'
import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { openStream } from '../support/event-stream.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { hang, held, result } from '../support/node-replies.ts'
import { startHttpNode } from '../support/scripted-http-node.ts'
import { startNode } from '../support/scripted-node.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { openSocket, statusOf } from '../support/tcp.ts'
import { until, within } from '../support/until.ts'

const node = await startSocketNode(t, { chainId: 1001 })
const [slow, spare] = [await startNode(t, { chainId: 1002 }), await startNode(t, { chainId: 1002 })]
const api = await startHttpNode(t)
const large = { tiers: ['any', 'paid'], maxBatch: 1000, ws: { connections: 8, subscriptions: 30 } }
const gateway = await startGateway(t, {
  methods: `families:
  evm:
    web3_sha3: { retry: safe }
    eth_gasPrice: { tier: paid, retry: safe }
    eth_subscribe: { needs: [ws], subscribe: eth_unsubscribe }
  http: { "POST /paid": { tier: paid }, "GET /late": {} }
`,
  networks: {
    alpha: { chainId: 1001 },
    pair: { chainId: 1002 },
    beacon: { family: 'http', chainId: 'mainnet' },
  },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl },
    { id: 'pair-a', network: 'pair', http: slow.url, timeout: '2s' },
    { id: 'pair-b', network: 'pair', http: spare.url, priority: 2 },
    { id: 'beacon-a', network: 'beacon', http: api.url },
  ],
  plans: { large, small: { ...large, tiers: ['any'], ws: { connections: 3, subscriptions: 2 } } },
})
const changePlan = ({ accountId }: Access, plan: string) =>
  withAccounts(gateway, store => store.accounts.change(accountId, { plan }))

/** Resolves once a fresh call is refused for it. */
const noticed = (access: Access, body: string, reason: string, path = '') =>
  until(`${reason} is noticed`, async () =>
    (await gateway.send({ path: access.path + path, body })).text.includes(`"${reason}"`),
  )

/** Items that begin at once, of which 32 are in flight at a time. */
const AT_ONCE = 32
const slowItem = message('web3_sha3', ['0x00'])
const denials: Readonly<
  Record<string, readonly [reason: string, make: (access: Access, owner: Access) => unknown]>
> = {
  rotated: [
    'invalid_key',
    ({ endpointId }, owner) => owner.managed('service_rotateKey', [{ endpointId, overlap: '0s' }]),
  ],
  deleted: [
    'invalid_key',
    ({ endpointId }, owner) => owner.managed('service_deleteEndpoint', [{ endpointId }]),
  ],
  suspended: [
    'account_suspended',
    ({ accountId }) =>
      withAccounts(gateway, store => store.accounts.change(accountId, { status: 'suspended' })),
  ],
  restricted: [
    'address_denied',
    ({ endpointId }, owner) =>
      owner.managed('service_updateEndpoint', [{ endpointId, allowedIps: ['198.51.100.1'] }]),
  ],
}

for (const [what, [reason, make]] of Object.entries(denials))
  t.test(`a batch whose key is ${what} meanwhile`, async t => {
    const owner = await createAccess(gateway, 'large', 'alpha')
    const access = await owner.another('alpha')
    const gate = new Gate()
    node.on('web3_sha3', held(gate, result('"0x"')))
    const before = node.count('web3_sha3')
    const late = ['service_listEndpoints', 'service_createEndpoint'].map(method =>
      message(method, [{ chain: 'alpha' }]),
    )
    const items = [
      ...Array.from({ length: AT_ONCE + 8 }, (_, n) => message('web3_sha3', [`0x${n}`])),
      ...late,
    ]
    const batch = access.post(`[${items.join()}]`)
    await node.arrived('web3_sha3', before + AT_ONCE)
    await make(access, owner)
    await noticed(access, message('eth_gasPrice'), reason)
    gate.open()
    const replies = JSON.parse((await batch).text) as { error?: { data?: { reason?: string } } }[]
    t.equal(node.count('web3_sha3') - before, AT_ONCE, 'nothing more is sent')
    t.strictSame(
      replies.slice(AT_ONCE).map(({ error }) => error?.data?.reason),
      items.slice(AT_ONCE).map(() => reason),
    )
    t.notMatch(JSON.stringify(replies), /apiKey/)
    if (what === 'rotated' || what === 'restricted') {
      const { endpoints } = await owner.managed('service_listEndpoints')
      t.equal(endpoints.find((one: any) => one.endpointId === access.endpointId).callCount, AT_ONCE)
      t.equal(endpoints.length, 2, 'none was made')
    }
  })

t.test('items of a batch follow a smaller plan: tiers and subscriptions', async t => {
  const access = await createAccess(gateway, 'large', 'alpha')
  const client = await openClient(t, access)
  const gate = new Gate()
  node.on('web3_sha3', held(gate, result('"0x"')))
  const before = node.count('web3_sha3')
  const made = node.subscriptions.length
  const items = [
    ...Array.from({ length: AT_ONCE }, (_, id) => message('web3_sha3', [`0x${id}`], id)),
    message('eth_gasPrice', [], 'paid'),
    ...Array.from({ length: 6 }, (_, n) =>
      message('eth_subscribe', ['logs', { address: `0x${String(n).repeat(40)}` }], `s${n}`),
    ),
  ]
  client.send(`[${items.join()}]`)
  await node.arrived('web3_sha3', before + AT_ONCE)
  await changePlan(access, 'small')
  await noticed(access, message('eth_gasPrice'), 'plan_required')
  gate.open()
  await until('the reply is there', () => Promise.resolve(client.frames.some(frame => frame.startsWith('['))))
  const replies = JSON.parse(client.frames.find(frame => frame.startsWith('['))!) as {
    id: string
    error?: { data: { reason: string } }
  }[]
  const reasonOf = (id: string) => replies.find(reply => reply.id === id)?.error?.data.reason
  t.equal(reasonOf('paid'), 'plan_required')
  t.strictSame(
    Array.from({ length: 6 }, (_, n) => reasonOf(`s${n}`)).filter(
      reason => reason === 'too_many_subscriptions',
    ).length,
    4,
    'no more than the smaller plan has',
  )
  t.equal(node.subscriptions.length - made, 2)
})

t.test('a route is tried next only while the caller may call', async t => {
  slow.on('web3_sha3', hang)
  spare.on('web3_sha3', result('"0x"'))
  const access = await createAccess(gateway, 'large', 'pair')
  const call = access.post(slowItem)
  await slow.arrived('web3_sha3')
  await withAccounts(gateway, store => store.accounts.change(access.accountId, { status: 'suspended' }))
  await noticed(access, slowItem, 'account_suspended')
  t.not((await call).status, 200)
  t.equal(spare.count('web3_sha3'), 0)
})

t.test('a verbatim request whose body is late follows its plan', async t => {
  api.on('/paid', (_, response) => {
    response.end('{}')
  })
  const access = await createAccess(gateway, 'large', 'beacon')
  const socket = await openSocket(gateway.port)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const closed = once(socket, 'close')
  socket.write(
    `POST ${access.path}/paid HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 12\r\nConnection: close\r\n\r\n{"a":"late`,
  )
  await changePlan(access, 'small')
  await noticed(access, '{}', 'plan_required', '/paid')
  const whole = api.requests.filter(request => request.text === '{"a":"late"}').length
  socket.write('"}')
  await within('the end of the connection', closed)
  t.equal(statusOf(text), 403)
  t.match(text, /"plan_required"/)
  t.equal(api.requests.filter(request => request.text === '{"a":"late"}').length, whole)
})

t.test('streams whose heads are late take the connections of the plan of that moment', async t => {
  const access = await createAccess(gateway, 'large', 'beacon')
  const gate = new Gate()
  api.on('/late', (_, response) => {
    void gate.pass().then(() => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(': hello\n\n')
    })
  })
  const opening = Array.from({ length: 6 }, () => openStream(t, access, '/late'))
  await until('all are at the node', () => Promise.resolve(gate.held === 6))
  await changePlan(access, 'small')
  await noticed(access, '{}', 'plan_required', '/paid')
  gate.open()
  const statuses = (await Promise.all(opening)).map(({ status }) => status)
  t.strictSame(statuses.sort(), [200, 200, 200, 429, 429, 429])
})
