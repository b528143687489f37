/** A request whose body arrives late is served as its caller may be served then, not as it might have been when its head arrived. */
import { once } from 'node:events'
import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { Visitor } from '../dashboard/support/visitor.ts'
import { createOwner } from '../dashboard/support/owner.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { startHttpNode } from '../support/scripted-http-node.ts'
import { startNode } from '../support/scripted-node.ts'
import { openSocket, statusOf } from '../support/tcp.ts'
import { until } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
node.otherwise(result('"ok"'))
const api = await startHttpNode(t)
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 }, beacon: { family: 'http', chainId: 'mainnet' } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url },
    { id: 'beacon-a', network: 'beacon', http: api.url },
  ],
  methods: 'families:\n  evm: { web3_sha3: {} }\n  http: { "POST /publish": {} }\n',
  gateway: { dashboardHost: '127.0.0.1', workers: Number(process.env['WORKERS'] ?? 1) },
})

/** A request that has arrived but for the last byte of its body. */
interface Parked {
  /** Sends the last byte and gives the whole reply. */
  finish(): Promise<string>
}

/** Sends a request without its last byte; resolves once the gateway has let its head pass. */
async function park(path: string, body: string, headers: Record<string, string> = {}): Promise<Parked> {
  const socket = await openSocket(gateway.port)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const all = {
    host: '127.0.0.1',
    'content-type': 'application/json',
    connection: 'close',
    'content-length': String(body.length),
    expect: '100-continue',
    ...headers,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n`)
  while (!text.includes('100 Continue')) await once(socket, 'data')
  socket.write(body.slice(0, -1))
  text = ''
  return {
    finish: async () => {
      socket.write(body.slice(-1))
      await once(socket, 'close')
      return text
    },
  }
}

const reasonIn = (reply: string): string =>
  /"reason":"(\w+)"/.exec(reply)?.[1] ?? (statusOf(reply) === 200 ? 'served' : `${statusOf(reply)}`)

interface Change {
  /** Makes it; `owner` is another key of the account. */
  readonly make: (access: Access, owner: Access) => Promise<unknown>
  readonly status: number
  readonly reason: string
}
const update = (change: object) => (access: Access, owner: Access) =>
  owner.managed('service_updateEndpoint', [{ endpointId: access.endpointId, ...change }])
const changes: Readonly<Record<string, Change>> = {
  'key rotated without overlap': {
    make: ({ endpointId }, owner) => owner.managed('service_rotateKey', [{ endpointId, overlap: '0s' }]),
    status: 401,
    reason: 'invalid_key',
  },
  'endpoint deleted': {
    make: ({ endpointId }, owner) => owner.managed('service_deleteEndpoint', [{ endpointId }]),
    status: 401,
    reason: 'invalid_key',
  },
  'endpoint inactive': {
    make: update({ status: 'inactive' }),
    status: 403,
    reason: 'endpoint_inactive',
  },
  'address restricted': {
    make: update({ allowedIps: ['198.51.100.1'] }),
    status: 403,
    reason: 'address_denied',
  },
  'origin restricted': {
    make: update({ allowedOrigins: ['https://a.example'] }),
    status: 403,
    reason: 'origin_denied',
  },
  'account suspended': {
    make: ({ accountId }) =>
      withAccounts(gateway, store => store.accounts.change(accountId, { status: 'suspended' })),
    status: 403,
    reason: 'account_suspended',
  },
  'account purged': {
    make: ({ accountId }) => withAccounts(gateway, store => store.accounts.purge(accountId)),
    status: 401,
    reason: 'invalid_key',
  },
}

/** Each body that may be parked: the network of its key, its path behind the key, and itself. */
const bodies: Readonly<Record<string, readonly [network: string, path: string, body: string]>> = {
  call: ['alpha', '', message('web3_sha3', ['0x00'])],
  batch: ['alpha', '', `[${message('web3_sha3', ['0x00'])},${message('service_listEndpoints')}]`],
  'management call': ['alpha', '', message('service_listEndpoints')],
  'verbatim request': ['beacon', '/publish', '{"signed":"block"}'],
}

/** Resolves once the gateway has noticed the change: another request with the key is refused for it. */
const noticed = (access: Access, path: string, body: string, reason: string) =>
  until(`${reason} is noticed`, async () => {
    const reply = await gateway.send({ path: access.path + path, body })
    return reply.text.includes(`"${reason}"`)
  })

for (const [what, { make, status, reason }] of Object.entries(changes))
  for (const [name, [network, path, body]] of Object.entries(bodies))
    t.test(`${name}, ${what} meanwhile`, async t => {
      const owner = await createAccess(gateway, 'paid', network)
      const bystander = await createAccess(gateway, 'paid', network)
      const access = await owner.another(network)
      const [parked, other] = [await park(access.path + path, body), await park(bystander.path + path, body)]
      await make(access, owner)
      await noticed(access, path, body, reason)
      const forwarded = () => node.calls.length + api.requests.filter(({ text }) => text === body).length
      const before = forwarded()
      const reply = await parked.finish()
      t.equal(statusOf(reply), status)
      t.equal(reasonIn(reply), reason)
      t.notMatch(reply, /apiKey/)
      t.equal(forwarded(), before, 'nothing was sent upstream')
      t.equal(statusOf(await other.finish()), 200, 'the bystander is served')
      t.equal(forwarded() - before, name === 'management call' ? 0 : 1)
    })

t.test('a call of the dashboard, its token replaced meanwhile', async t => {
  const owner = await createOwner(gateway, 'alpha')
  const stranger = await createOwner(gateway, 'alpha')
  const signedIn = async (token: string): Promise<Visitor> => {
    const visitor = new Visitor(gateway)
    t.equal((await visitor.signIn(token)).status, 200)
    return visitor
  }
  const [by, other] = [await signedIn(owner.token), await signedIn(stranger.token)]
  const body = message('service_listEndpoints', [{}])
  const headers = (visitor: Visitor) => ({ cookie: visitor.cookie, 'sec-fetch-site': 'same-origin' })
  const parked = await park('/api/rpc', body, headers(by))
  const kept = await park('/api/rpc', body, headers(other))
  await withAccounts(gateway, store => store.accounts.rotateToken(owner.accountId))
  await until('the session has ended', async () => (await by.ask('service_account')).status === 401)
  const reply = await parked.finish()
  t.equal(statusOf(reply), 401)
  t.equal(reasonIn(reply), 'invalid_key')
  t.notMatch(reply, /apiKey/)
  t.match(await kept.finish(), /apiKey/, 'the bystander is served')
})

t.test('management calls of an account that was purged a moment ago are refused', async t => {
  const endpointId = { endpointId: 'ep_none' }
  const calls: readonly (readonly [method: string, params: object])[] = [
    ['service_createEndpoint', { chain: 'alpha' }],
    ['service_listEndpoints', {}],
    ['service_getEndpoint', endpointId],
    ['service_updateEndpoint', { ...endpointId, name: 'x' }],
    ['service_rotateKey', endpointId],
    ['service_deleteEndpoint', endpointId],
    ['service_account', {}],
    ['service_alerts', {}],
    ['service_setAlerts', { webhook: 'https://hooks.example/x' }],
    ['service_audit', {}],
    ['service_usage', { by: 'day' }],
  ]
  for (const [method, params] of calls) {
    const access = await createAccess(gateway, 'paid', 'alpha')
    const parked = await park(access.path, message(method, [params]))
    await withAccounts(gateway, store => store.accounts.purge(access.accountId))
    const reply = await parked.finish()
    t.ok([200, 401].includes(statusOf(reply)), method)
    t.notMatch(reply, /"reason":"internal"/, method)
    const webhook = await withAccounts(gateway, async store => store.alerts.webhook(access.accountId))
    t.equal(webhook, null, 'nothing is stored for it')
  }
  t.notMatch(gateway.printed, /"stack"/, 'nothing is logged as a bug')
})
