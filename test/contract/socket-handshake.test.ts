import t, { type Test } from 'tap'
import { once } from 'node:events'
import { Access, message } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { hostOf } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { echo } from '../support/node-replies.ts'
import { readsOffers } from '../support/node-line.ts'
import { refused, type ExpectedRefusal } from '../support/refusals.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { askUpgrade, openClient, socketUrl, upgradeHeaders } from '../support/socket-client.ts'
import { exchange, openSocket, statusOf } from '../support/tcp.ts'
import { until, within } from '../support/until.ts'

const node = await startSocketNode(t, { chainId: 1001 })
const solanaNode = await startSocketNode(t)
const rate = { perSecond: 100_000, burst: 100_000 }
const gateway = await startGateway(t, {
  networks: {
    alpha: { chainId: 1001, public: true },
    beta: { chainId: 1001 },
    sol: { family: 'solana', chainId: 'solana-test' },
    mute: { chainId: 1001, public: true },
    'mute-sol': { family: 'solana', chainId: 'solana-mute' },
  },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url },
    { id: 'alpha-b', network: 'alpha', http: node.url, ws: node.wsUrl },
    { id: 'beta-a', network: 'beta', http: node.url, ws: node.wsUrl },
    { id: 'sol-a', network: 'sol', http: solanaNode.url, ws: solanaNode.wsUrl },
    { id: 'mute-a', network: 'mute', http: node.url },
    { id: 'mute-sol-a', network: 'mute-sol', http: solanaNode.url },
  ],
  plans: {
    public: { tiers: ['any'], rate, maxBatch: 20, ws: { connections: 2, subscriptions: 5 } },
    two: { tiers: ['any'], rate, maxBatch: 20, ws: { connections: 2, subscriptions: 5 } },
  },
  gateway: { trustedProxies: ['127.0.0.1/32'] },
})
node.on('web3_sha3', echo)
const body = message('web3_sha3', ['0x00'])
const answer = { jsonrpc: '2.0', id: 1, result: ['0x00'] }
const access = await createAccess(gateway, 'paid', 'alpha')
const host = hostOf('alpha')

/** A client address that nobody else in this file has: bad keys and public sockets are counted by address. */
let addresses = 0
const fromAnew = () => ({ 'x-forwarded-for': `198.51.100.${++addresses}` })
const connections = (network: string) => metric(gateway, 'tollgate_ws_connections', { network })

/** Opens a socket, makes one call and gives its parsed reply; the socket is closed again. */
async function callOver(t: Test, url: string, headers: Record<string, string> = {}): Promise<any> {
  const client = await openClient(t, url, { headers: { ...fromAnew(), ...headers } })
  const reply = JSON.parse(await client.exchange(body))
  await client.close()
  return reply
}
const urlOf = (path: string) => `ws://127.0.0.1:${gateway.port}${path}`

const opening: [name: string, path: string, host?: string][] = [
  ['the path form', access.path],
  ['the path form with a trailing slash and a query', `${access.path}/?x=y`],
  ['the path form on an unknown host', access.path, 'somewhere.else'],
  ['the host form', `/v1/rpc/${access.key}`, host],
  ['the host form in capitals with a dot and a port', `/v1/rpc/${access.key}`, `${host.toUpperCase()}.:443`],
  ['the public route in the path form', '/alpha/v1/rpc/public'],
  ['the public route in the host form', '/v1/rpc/public', host],
]
for (const [name, path, hostHeader] of opening) {
  t.test(`${name} opens a socket`, async t => {
    const before = await access.usage()
    const reply = await callOver(t, urlOf(path), hostHeader === undefined ? {} : { host: hostHeader })
    t.strictSame(reply, answer)
    const { requests } = await access.usage()
    t.equal(requests - before.requests, name.startsWith('the public') ? 0 : 1)
  })
}

t.test('open sockets are counted on /metrics', async t => {
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'alpha' }, 0)
  const clients = [await openClient(t, access), await openClient(t, access)]
  t.equal(await connections('alpha'), 2)
  await clients[0]!.close()
  clients[1]!.socket.terminate()
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'alpha' }, 0)
})

const suspended = await createAccess(gateway, 'paid', 'alpha')
await withAccounts(gateway, store => store.accounts.change(suspended.accountId, { status: 'suspended' }))
await until('it is suspended', async () => (await suspended.post(body)).status === 403)
const inactive = await access.another('alpha')
await access.managed('service_updateEndpoint', [{ endpointId: inactive.endpointId, status: 'inactive' }])
const guarded = await access.another('alpha')
await access.managed('service_updateEndpoint', [
  { endpointId: guarded.endpointId, allowedOrigins: ['https://app.example'] },
])
const fenced = await access.another('alpha')
await access.managed('service_updateEndpoint', [
  { endpointId: fenced.endpointId, allowedIps: ['203.0.113.0/24'] },
])
const deleted = await access.another('alpha')
await access.managed('service_deleteEndpoint', [{ endpointId: deleted.endpointId }])
const onSolana = await access.another('sol')
const onMute = await access.another('mute')
const onMuteSolana = await access.another('mute-sol')

const refusing: [name: string, path: string, expected: ExpectedRefusal, headers?: Record<string, string>][] =
  [
    ['an unknown key', '/alpha/v1/rpc/nonsense', { reason: 'invalid_key' }],
    ['an empty key', '/alpha/v1/rpc/', { reason: 'invalid_key' }],
    ['a deleted key', deleted.path, { reason: 'invalid_key' }],
    ['an unknown key in the host form', '/v1/rpc/nonsense', { reason: 'invalid_key' }, { host }],
    ['an unknown key on Solana', '/sol/v1/rpc/nonsense', { reason: 'invalid_key', family: 'solana' }],
    ['public where the network is not', '/beta/v1/rpc/public', { reason: 'invalid_key' }],
    ['a suspended account', suspended.path, { reason: 'account_suspended' }],
    ['an inactive endpoint', inactive.path, { reason: 'endpoint_inactive' }],
    ['another network', access.on('beta').path, { reason: 'wrong_network' }],
    ['another family', onSolana.on('alpha').path, { reason: 'wrong_network' }],
    ['no Origin where one is asked for', guarded.path, { reason: 'origin_denied' }],
    ['a foreign Origin', guarded.path, { reason: 'origin_denied' }, { origin: 'https://evil.example' }],
    ['a foreign address', fenced.path, { reason: 'address_denied' }],
    ['another path', '/alpha/v2/rpc/x', { reason: 'not_found' }],
    ['the root', '/', { reason: 'not_found' }],
    ['an unknown slug', `/nowhere/v1/rpc/${access.key}`, { reason: 'not_found' }],
    ['an unknown host', `/v1/rpc/${access.key}`, { reason: 'not_found' }, { host: 'nowhere.example.test' }],
    ['a broken escape', '/%ff%', { reason: 'not_found' }],
  ]
for (const [name, path, expected, headers] of refusing) {
  t.test(`${name} is refused before 101`, async t => {
    refused(t, await askUpgrade(gateway.port, path, { ...fromAnew(), ...headers }), expected)
  })
}

t.test('what restricts a key lets those in who fulfil it', async t => {
  t.strictSame(await callOver(t, socketUrl(guarded), { origin: 'https://app.example' }), answer)
  t.strictSame(await callOver(t, socketUrl(fenced), { 'x-forwarded-for': '203.0.113.9' }), answer)
})

t.test('a network without any WebSocket route has none of it', async t => {
  for (const [by, family] of [
    [onMute, 'evm'],
    [new Access(gateway, 'mute', 'public'), 'evm'],
    [onMuteSolana, 'solana'],
  ] as const)
    refused(
      t,
      await askUpgrade(gateway.port, by.path, fromAnew()),
      { reason: 'capability_missing', family, data: { capability: 'ws' } },
      404,
    )
  // What is wrong with the key comes first.
  refused(t, await askUpgrade(gateway.port, '/mute/v1/rpc/nonsense', fromAnew()), { reason: 'invalid_key' })
  refused(t, await askUpgrade(gateway.port, access.on('mute').path), { reason: 'wrong_network' })
  t.equal((await onMute.post(body)).status, 200)
})

t.test('too many bad keys of one address, whose good key still opens a socket', async t => {
  const headers = fromAnew()
  const bad = () => askUpgrade(gateway.port, '/alpha/v1/rpc/tg_nonsense', headers)
  const replies = []
  for (let i = 0; i < 22; i++) replies.push(await bad())
  t.strictSame(
    replies.map(({ status }) => status),
    replies.map((_, i) => (i < 20 ? 401 : 429)),
  )
  refused(t, replies[21]!, { reason: 'too_many_bad_keys' })
  t.strictSame(await callOver(t, socketUrl(access), headers), answer)
})

t.test("an account's connections are counted over all its endpoints", async t => {
  const own = await createAccess(gateway, 'two', 'alpha')
  const sibling = await own.another('sol')
  const first = await openClient(t, own)
  await openClient(t, sibling)
  refused(t, await askUpgrade(gateway.port, own.path), { reason: 'too_many_connections' })
  refused(t, await askUpgrade(gateway.port, sibling.path), {
    reason: 'too_many_connections',
    family: 'solana',
  })
  t.strictSame(JSON.parse(await first.exchange(body)), answer, 'those that are open stay')
  t.equal((await own.post(body)).status, 200, 'and calls over HTTP are no connections')
  await first.close()
  const again = await until('there is room again', () => openClient(t, own).catch(() => undefined))
  refused(t, await askUpgrade(gateway.port, own.path), { reason: 'too_many_connections' })
  again.socket.terminate()
  await until('there is room again', () => openClient(t, own).catch(() => undefined))
})

t.test('handshakes that race end at exactly the limit', async t => {
  const own = await createAccess(gateway, 'two', 'alpha')
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => openClient(t, own)))
  t.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 2)
})

t.test('connections of the public route are counted by address', async t => {
  const open = new Access(gateway, 'alpha', 'public')
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  const first = await openClient(t, open, from('203.0.113.77'))
  await openClient(t, open, from('203.0.113.77'))
  const more = () => askUpgrade(gateway.port, open.path, { 'x-forwarded-for': '203.0.113.77' })
  refused(t, await more(), { reason: 'too_many_connections' })
  await openClient(t, open, from('203.0.113.78'))
  await openClient(t, open, from('2001:db8:7:7::1'))
  await openClient(t, open, from('2001:db8:7:7:ffff::2'))
  const third = { 'x-forwarded-for': '2001:db8:7:7:1234::3' }
  refused(t, await askUpgrade(gateway.port, open.path, third), { reason: 'too_many_connections' })
  await openClient(t, open, from('2001:db8:7:8::1'))
  await first.close()
  await until('there is room again', async () => (await more()).status === 101)
})

t.test('the key and its restrictions are looked at before the limit', async t => {
  const own = await createAccess(gateway, 'two', 'alpha')
  const closed = await own.another('alpha')
  await own.managed('service_updateEndpoint', [
    { endpointId: closed.endpointId, allowedOrigins: ['https://app.example'] },
  ])
  await openClient(t, own)
  await openClient(t, own)
  refused(t, await askUpgrade(gateway.port, own.on('beta').path), { reason: 'wrong_network' })
  refused(t, await askUpgrade(gateway.port, closed.path), { reason: 'origin_denied' })
  refused(t, await askUpgrade(gateway.port, own.path), { reason: 'too_many_connections' })
})

t.test('GET without an upgrade, or with another one, is not allowed', async t => {
  const without = { connection: undefined, upgrade: undefined }
  for (const headers of [without, { upgrade: 'h2c' }, { upgrade: 'foo' }]) {
    const reply = await askUpgrade(gateway.port, access.path, headers)
    refused(t, reply, { reason: 'method_not_allowed' })
    t.match(reply.headers.allow, /\bPOST\b/)
  }
})

const crooked: [name: string, headers: Record<string, string | undefined>][] = [
  ['no key', { 'sec-websocket-key': undefined }],
  ['an empty key', { 'sec-websocket-key': '' }],
  ['a short key', { 'sec-websocket-key': 'AAAA' }],
  ['a key that is no base64', { 'sec-websocket-key': '!'.repeat(24) }],
  ['no version', { 'sec-websocket-version': undefined }],
  ['version 7', { 'sec-websocket-version': '7' }],
  ['a version that is no number', { 'sec-websocket-version': 'x' }],
]
for (const [name, headers] of crooked) {
  t.test(`a handshake with ${name} is refused, and nothing is left of it`, async t => {
    const before = await connections('alpha')
    const reply = await askUpgrade(gateway.port, access.path, headers)
    t.ok([400, 426].includes(reply.status), `status: ${reply.status}`)
    if (name.includes('version 7')) t.match(reply.headers['sec-websocket-version'], /\b13\b/)
    t.equal(await connections('alpha'), before)
  })
}

t.test('two Host headers are refused', async t => {
  const lines = Object.entries(upgradeHeaders).map(([header, value]) => `${header}: ${value}\r\n`)
  const reply = await exchange(
    gateway.port,
    `GET ${access.path} HTTP/1.1\r\nHost: a\r\nHost: b\r\n${lines.join('')}\r\n`,
  )
  t.equal(statusOf(reply), 400)
})

/** Whole HTTP requests of one connection: the first offers an upgrade to HTTP/2. */
const offer = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n'
const head = `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
const call = (id: string) => message('web3_sha3', ['0x00'], id)
const withLength = (text: string, more = '') => `${head}${more}Content-Length: ${text.length}\r\n\r\n${text}`
const inChunks = (text: string, more = '') => {
  const [first, second] = [text.slice(0, 10), text.slice(10)]
  const chunk = (part: string) => `${part.length.toString(16)}\r\n${part}\r\n`
  return `${head}${more}Transfer-Encoding: chunked\r\n\r\n${chunk(first)}${chunk(second)}0\r\n\r\n`
}
/** A connection that remembers everything it got. */
async function listening(t: Test) {
  const socket = await openSocket(gateway.port)
  socket.setNoDelay(true)
  t.teardown(() => socket.destroy())
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const until = async (what: string, probe: (got: string) => boolean) => {
    const seen = async () => {
      while (!probe(text)) await once(socket, 'data')
      return text
    }
    return within(what, seen(), 5_000).catch((error: unknown) => {
      throw new Error(`${String(error)}; it got ${text}`)
    })
  }
  return { socket, until, got: () => text }
}
const answered = (text: string) =>
  [...text.matchAll(/\{"jsonrpc":"2\.0","id":"(\w+)","result":/g)].map(([, id]) => id)

for (const [name, write] of [
  ['a length', withLength],
  ['chunks', inChunks],
] as const) {
  for (const [which, bytes] of [
    ['the first', write(call('one'), offer) + withLength(call('two')) + withLength(call('three'))],
    ['the last', withLength(call('one')) + withLength(call('two')) + write(call('three'), offer)],
    ['each', write(call('one'), offer) + write(call('two'), offer) + write(call('three'), offer)],
  ] as const) {
    t.test(
      `of three pipelined POSTs ${which}, with ${name}, offers HTTP/2`,
      { skip: readsOffers },
      async t => {
        const { socket, until, got } = await listening(t)
        socket.write(bytes)
        await until('three answers', text => answered(text).length >= 3)
        t.equal([...got().matchAll(/HTTP\/1\.1 200 OK\r\n/g)].length, 3)
        t.notMatch(got(), /HTTP\/1\.1 [^2]/)
        socket.write(withLength(call('four')))
        await until('a fourth', text => answered(text).length >= 4)
        socket.write(withLength(call('five'), 'Connection: close\r\n'))
        await within('the end', once(socket, 'close'))
        t.strictSame(answered(got()), ['one', 'two', 'three', 'four', 'five'])
      },
    )
  }

  t.test(`a POST with ${name} that offers HTTP/2 may come in many pieces`, { skip: readsOffers }, async t => {
    const { socket, until, got } = await listening(t)
    const bytes = Buffer.from(write(call('one'), offer) + withLength(call('two'), 'Connection: close\r\n'))
    for (let at = 0; at < bytes.length; at += 7)
      await new Promise(resolve => socket.write(bytes.subarray(at, at + 7), resolve))
    await until('both answers', text => answered(text).length >= 2)
    t.strictSame(answered(got()), ['one', 'two'])
  })

  t.test(
    `where Node.js reads a POST with ${name} that offers HTTP/2, the connection ends with its answer`,
    { skip: !readsOffers },
    async t => {
      const before = node.calls.length
      const text = await exchange(gateway.port, write(call('one'), offer) + withLength(call('two')))
      t.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\r\nConnection: close\r\n/)
      t.strictSame(answered(text), ['one'])
      t.equal(node.calls.length, before + 1)
    },
  )
}

t.test('what the body of an offer holds is never a request', async t => {
  const before = node.calls.length
  const smuggled = withLength(call('smuggled'))
  const inside = JSON.stringify({ jsonrpc: '2.0', id: 'outside', method: 'web3_sha3', params: [smuggled] })
  const text = await exchange(
    gateway.port,
    withLength(inside, offer) + withLength(call('last'), 'Connection: close\r\n'),
  )
  const expected = readsOffers ? ['outside'] : ['outside', 'last']
  t.strictSame(answered(text), expected)
  t.equal(node.calls.length, before + expected.length)
})

t.test('an offer is refused like any other request', async t => {
  const { socket, until } = await listening(t)
  socket.write(withLength(call('x'), offer).replace(access.path, '/alpha/v1/rpc/nonsense'))
  t.equal(statusOf(await until('a refusal', text => text.includes('invalid_key'))), 401)
  const unsupported = withLength(call('x'), `${offer}Content-Encoding: gzip\r\nConnection: close\r\n`)
  t.equal(statusOf(await within('the refusal', exchange(gateway.port, unsupported))), 415)
})

t.test('a frame that comes along with the handshake is answered', async t => {
  const text = Buffer.from(body)
  const frame = Buffer.concat([Buffer.from([0x81, 0x80 | text.length, 0, 0, 0, 0]), text])
  const lines = Object.entries(upgradeHeaders).map(([header, value]) => `${header}: ${value}\r\n`)
  const { socket, until } = await listening(t)
  const request = Buffer.from(`GET ${access.path} HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`)
  socket.write(Buffer.concat([request, frame]))
  t.equal(statusOf(await until('an answer', got => got.includes(JSON.stringify(answer)))), 101)
})

t.test('a handshake behind a call that is not answered yet', async t => {
  const { socket, until, got } = await listening(t)
  const lines = Object.entries(upgradeHeaders).map(([header, value]) => `${header}: ${value}\r\n`)
  socket.write(`${withLength(call('one'))}GET ${access.path} HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`)
  await until('both answers', text => answered(text).length >= 1 && text.includes('101 Switching'))
  t.match(got(), /^HTTP\/1\.1 200 [^]*HTTP\/1\.1 101 /, 'in the order of the requests')
})
