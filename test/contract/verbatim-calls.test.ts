import t from 'tap'
import type { Test } from 'tap'
import { Access, message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { hostOf } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { seenAs, startHttpNode } from '../support/scripted-http-node.ts'
import { exchange, openSocket, statusOf } from '../support/tcp.ts'
import { until } from '../support/until.ts'

const node = await startHttpNode(t)
const rules = `notification: { cost: 1 }
families:
  http:
    "GET /eth/v1/node/*": {}
    "GET /eth/v1/node/health": { cost: 2 }
    "GET /eth/v1/beacon/states/*": {}
    "GET /eth/v1/beacon/states/{state}/validators": { cost: 7, tier: paid }
    "POST /eth/v1/beacon/states/{state}/validators": { cost: 7, tier: paid }
    "POST /eth/v1/beacon/pool/attestations": { cost: 3 }
    "GET /eth/v2/debug/beacon/states/*": { cost: 20, tier: paid, needs: [debug] }
    "GET /eth/v1/beacon/light_client/*": { needs: [lightclient] }
    "GET /eth/v1/validator/*": {}
    "HEAD /eth/v1/beacon/blocks/head": {}
    "DELETE /eth/v1/keys/a": {}
    "GET /eth/v1/off": { enabled: false }
`
const gateway = await startGateway(t, {
  methods: rules,
  networks: {
    beacon: { family: 'http', chainId: 'mainnet', public: true },
    closed: { family: 'http', chainId: 'mainnet' },
  },
  routes: [
    {
      id: 'beacon-a',
      network: 'beacon',
      http: node.url,
      headers: { 'X-Operator': 'operator-secret-3' },
      methods: { deny: ['GET /eth/v1/validator/*'] },
    },
    { id: 'closed-a', network: 'closed', http: node.url },
  ],
  plans: {
    tight: { tiers: ['any', 'paid'], rate: { perSecond: 1, burst: 20 } },
    small: {
      tiers: ['any', 'paid'],
      rate: { perSecond: 1000, burst: 1000 },
      quota: { requests: 3, every: '30d' },
    },
  },
  gateway: { limits: { body: '64KiB', response: '1MiB' } },
})
const access = await createAccess(gateway, 'paid', 'beacon')
const free = await createAccess(gateway, 'free', 'beacon')
const plain = { 'content-type': undefined }

/** Gets a path through a key, with nothing sent but what is given. */
function get(path: string, headers: Record<string, string> = {}, through = access) {
  return gateway.send({ method: 'GET', path: through.path + path, headers: { ...plain, ...headers } })
}

t.test('a path goes up and its reply comes down as they are', async t => {
  node.on('/eth/v1/node/health', (_, response) => {
    const headers = {
      'content-type': 'application/octet-stream',
      'eth-consensus-version': 'electra',
      etag: '"1"',
      server: 'node-secret',
      'set-cookie': 'a=node-secret',
      'x-powered-by': 'node-secret',
      via: 'node-secret',
      location: 'http://node-secret/',
      'cache-control': 'public, max-age=60',
      'access-control-allow-origin': 'x',
    }
    response.writeHead(206, headers).end(Buffer.from([0, 255, 1, 254]))
  })
  const before = await access.usage()
  const reply = await get('/eth/v1/node/health?b=2&a=%20x&a=\'"<|>', {
    accept: 'application/octet-stream;q=1',
    'if-none-match': '"0"',
    'accept-encoding': 'gzip',
    authorization: 'Bearer client-secret',
    cookie: 'a=client-secret',
    'x-forwarded-for': '9.9.9.9',
    'user-agent': 'client',
    origin: 'https://page.example',
    referer: 'x',
    te: 'trailers',
    'x-operator': 'me',
  })
  t.equal(reply.status, 206)
  t.same([...Buffer.from(reply.text, 'utf8')].length, Buffer.from([0, 255, 1, 254]).toString().length + 4)
  const { headers } = reply
  t.match(headers['x-request-id'], /^\S+$/)
  t.match(headers['x-ratelimit-remaining'], /^\d+$/)
  t.strictSame(
    Object.fromEntries(
      Object.entries(headers).filter(([name]) => !/^(date|x-request-id|x-ratelimit-re.*)$/.test(name)),
    ),
    {
      'content-type': 'application/octet-stream',
      'eth-consensus-version': 'electra',
      etag: '"1"',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'access-control-allow-origin': '*',
      'access-control-expose-headers': headers['access-control-expose-headers'],
      'x-ratelimit-limit': '100000',
      connection: 'close',
      'transfer-encoding': 'chunked',
    },
  )
  t.match(headers['access-control-expose-headers'], /X-Request-Id.*Eth-Consensus-Version/)
  const [asked] = node.requests
  t.equal(asked?.verb, 'GET')
  t.equal(asked?.url, seenAs('/eth/v1/node/health?b=2&a=%20x&a=\'"<|>'))
  t.strictSame(asked?.headers, {
    accept: 'application/octet-stream;q=1',
    'accept-encoding': 'gzip',
    'if-none-match': '"0"',
    'x-operator': 'operator-secret-3',
    host: `127.0.0.1:${node.port}`,
    connection: 'keep-alive',
  })
  const after = await access.usage()
  t.strictSame([after.requests - before.requests, after.calls - before.calls], [2, 1])
  const labels = {
    network: 'beacon',
    method: 'GET /eth/v1/node/health',
    plan: 'paid',
    transport: 'http',
    outcome: 'ok',
  }
  t.equal(await metric(gateway, 'tollgate_calls_total', labels), 1)
  t.equal(await metric(gateway, 'tollgate_attempts_total', { route: 'beacon-a', result: 'ok' }), 1)
})

t.test('on its own host, on the public route, and by HEAD', async t => {
  const host = { host: hostOf('beacon'), ...plain }
  const own = await gateway.send({
    method: 'GET',
    path: `/v1/rpc/${access.key}/eth/v1/node/version`,
    headers: host,
  })
  t.equal(own.text, '{"data":"ok"}')
  const open = await gateway.send({
    method: 'GET',
    path: '/beacon/v1/rpc/public/eth/v1/node/version',
    headers: plain,
  })
  t.equal(open.text, '{"data":"ok"}')
  const shut = await gateway.send({
    method: 'GET',
    path: '/closed/v1/rpc/public/eth/v1/node/version',
    headers: plain,
  })
  t.equal(shut.status, 401)
  node.on('/eth/v1/beacon/blocks/head', (_, response) => {
    response.writeHead(200, { 'content-length': '5000000', 'content-type': 'application/json' }).end()
  })
  const path = `${access.path}/eth/v1/beacon/blocks/head`
  const head = await gateway.send({ method: 'HEAD', path, headers: plain })
  t.strictSame([head.status, head.text, head.headers['content-length']], [200, '', '5000000'])
})

/** The facts of a refusal: status, code, reason, headers. */
function refusal(
  t: Test,
  reply: { status: number; text: string; headers: Record<string, any> },
  reason: string,
  status: number,
): any {
  const body = JSON.parse(reply.text)
  t.equal(reply.status, status, 'status')
  t.strictSame([body.code, body.reason, Object.hasOwn(body, 'jsonrpc')], [status, reason, false])
  t.match(body.message, /^[A-Z]/, 'in the words of the API: code and message')
  t.equal(body.requestId, reply.headers['x-request-id'])
  t.equal(reply.headers['content-type'], 'application/json')
  t.equal(reply.headers['cache-control'], 'no-store')
  t.equal(reply.headers['access-control-allow-origin'], '*')
  return body
}

t.test('refusals', async t => {
  const inactive = await access.another('beacon')
  await access.managed('service_updateEndpoint', [{ endpointId: inactive.endpointId, status: 'inactive' }])
  const guarded = await access.another('beacon')
  await access.managed('service_updateEndpoint', [
    { endpointId: guarded.endpointId, allowedOrigins: ['https://a.example'] },
  ])
  const other = await access.another('closed')
  const tight = await createAccess(gateway, 'tight', 'beacon')
  const small = await createAccess(gateway, 'small', 'beacon')
  await get('/eth/v1/node/a', {}, small)
  await get('/eth/v1/node/a', {}, small)
  await get('/eth/v1/beacon/states/head/validators', {}, tight)
  await get('/eth/v1/beacon/states/head/validators', {}, tight)
  const sent = node.requests.length
  const calls = await access.usage()
  const send = (verb: string, path: string, body = '', headers: Record<string, string> = {}) =>
    gateway.send({ method: verb, path: access.path + path, body, headers: { ...plain, ...headers } })
  const bad = new Access(gateway, 'beacon', 'tg_nokey')

  refusal(t, await get('/eth/v1/node/a', {}, bad), 'invalid_key', 401)
  refusal(t, await get('/eth/v1/node/a', {}, inactive), 'endpoint_inactive', 403)
  refusal(t, await get('/eth/v1/node/a', { origin: 'https://b.example' }, guarded), 'origin_denied', 403)
  refusal(t, await get('/eth/v1/node/a', {}, other.on('beacon')), 'wrong_network', 403)
  refusal(t, await get('/eth/v1/nodes'), 'method_not_found', 404)
  refusal(t, await get('/ETH/v1/node/a'), 'method_not_found', 404)
  refusal(t, await get('/eth/v1/off'), 'method_not_found', 404)
  refusal(t, await get('/eth/v1/validator/duties'), 'method_not_found', 404)
  const wrongVerb = await send('PUT', '/eth/v1/beacon/states/head/validators', 'x')
  refusal(t, wrongVerb, 'method_not_allowed', 405)
  t.equal(wrongVerb.headers.allow, 'GET, POST, OPTIONS')
  const tier = refusal(t, await get('/eth/v1/beacon/states/head/validators', {}, free), 'plan_required', 403)
  t.equal(tier.tier, 'paid')
  const missing = refusal(t, await get('/eth/v2/debug/beacon/states/head'), 'capability_missing', 501)
  t.equal(missing.capability, 'debug')
  refusal(t, await get('/eth/v1/beacon/states/head/validators', {}, tight), 'rate_limited', 429)
  refusal(t, await get('/eth/v1/node/health', {}, small), 'quota_exhausted', 402)
  refusal(
    t,
    await send('POST', '/eth/v1/beacon/pool/attestations', 'x'.repeat(70_000)),
    'body_too_large',
    413,
  )
  refusal(t, await send('GET', '/eth/v1/node/a', 'x'), 'invalid_request', 400)
  refusal(t, await send('DELETE', '/eth/v1/keys/a', 'x'), 'invalid_request', 400)
  const chunked = `DELETE ${access.path}/eth/v1/keys/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n`
  t.equal(statusOf(await exchange(gateway.port, chunked)), 400, 'a chunked body of DELETE')
  const jsonrpc = await access.post(message('GET /eth/v1/node/health', []))
  t.strictSame([jsonrpc.status, JSON.parse(jsonrpc.text).error.data.reason], [404, 'method_not_found'])
  const door = await gateway.send({ method: 'GET', path: access.path, headers: plain })
  t.match(
    [door.status, JSON.parse(door.text)],
    [405, { jsonrpc: '2.0', id: null, error: { code: 405, data: { reason: 'method_not_allowed' } } }],
    'the door of service_* calls speaks JSON-RPC',
  )
  const socket = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const key = { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' }
  const upgraded = await get('/eth/v1/node/a', { ...socket, ...key })
  t.match([upgraded.status, JSON.parse(upgraded.text)], [404, { code: 404, reason: 'not_found' }])
  t.equal(node.requests.length, sent, 'nothing was sent upstream')
  t.strictSame(await access.usage(), calls, 'nothing was charged')
  t.equal(await metric(gateway, 'tollgate_refusals_total', { reason: 'plan_required' }), 1)
  t.equal(
    await metric(gateway, 'tollgate_calls_total', { network: 'beacon', method: 'other', outcome: 'refused' }),
    5,
  )
})

t.test('a body that turns out too large ends the call unpaid; no upstream believes it', async t => {
  node.on('/eth/v1/beacon/pool/attestations', (_, response) => {
    response.end('taken')
  })
  const before = await access.usage()
  const path = `${access.path}/eth/v1/beacon/pool/attestations`
  const reply = await gateway.send({
    method: 'POST',
    path,
    body: 'x'.repeat(200_000),
    chunked: true,
    headers: plain,
  })
  refusal(t, reply, 'body_too_large', 413)
  t.strictSame(await access.usage(), before)
  t.equal(node.asked('/eth/v1/beacon/pool/attestations').length, 0, 'the node never saw a whole request')
})

t.test('a body streams up', async t => {
  let first: (text: string) => void = () => undefined
  const firstPiece = new Promise<string>(resolve => (first = resolve))
  node.on('/eth/v1/beacon/states/head/validators', async (_, response, incoming) => {
    const pieces: string[] = []
    for await (const piece of incoming) {
      pieces.push(String(piece))
      first(pieces[0]!)
    }
    response.writeHead(200, { 'content-type': 'text/plain' }).end(pieces.join(''))
  })
  node.unread = true
  const before = await access.usage()
  const socket = await openSocket(gateway.port)
  const text = ['POST', `${access.path}/eth/v1/beacon/states/head/validators`, 'HTTP/1.1'].join(' ')
  socket.write(
    `${text}\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`,
  )
  socket.write('5\r\nhello\r\n')
  t.equal(await firstPiece, 'hello', 'the first piece has come while the client still sends')
  socket.write('6\r\n world\r\n0\r\n\r\n')
  let reply = ''
  for await (const chunk of socket) reply += String(chunk)
  node.unread = false
  t.equal(statusOf(reply), 200)
  t.match(reply, /hello world/)
  const after = await access.usage()
  t.strictSame([after.requests - before.requests, after.calls - before.calls], [7, 1])
  t.equal(node.requests.at(-1)?.headers['content-type'], 'application/json')
})

t.test(
  'a reply larger than limits.response: refused where its length tells, else cut; both are paid for',
  async t => {
    node.on('/eth/v1/node/large', (_, response) => {
      response.writeHead(200, { 'content-length': String(2 << 20) }).end(Buffer.alloc(2 << 20))
    })
    node.on('/eth/v1/node/growing', (_, response) => {
      response.writeHead(200).end(Buffer.alloc(2 << 20))
    })
    node.on('/eth/v1/node/growing', (_, response) => {
      response.writeHead(200)
      response.write(Buffer.alloc(1 << 20))
      response.end(Buffer.alloc(1 << 20))
    })
    const before = await access.usage()
    refusal(t, await get('/eth/v1/node/large'), 'response_too_large', 502)
    await t.rejects(get('/eth/v1/node/growing'))
    const after = await access.usage()
    t.equal(after.requests - before.requests, 2)
  },
)

t.test('an answer of 400 and above is the answer', async t => {
  node.on('/eth/v1/beacon/states/lost', (_, response) => {
    response
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"code":404,"message":"State not found"}')
  })
  const before = await access.usage()
  const reply = await get('/eth/v1/beacon/states/lost')
  t.strictSame([reply.status, reply.text], [404, '{"code":404,"message":"State not found"}'])
  const after = await access.usage()
  t.equal(after.requests - before.requests, 1)
  const labels = { network: 'beacon', method: 'GET /eth/v1/beacon/states/*', outcome: 'error' }
  t.equal(await metric(gateway, 'tollgate_calls_total', labels), 1)
})

t.test('not modified, and no content, have no body', async t => {
  node.on('/eth/v1/node/same', (_, response) => {
    response.writeHead(304, { etag: '"7"' }).end()
  })
  const reply = await get('/eth/v1/node/same', { 'if-none-match': '"7"' })
  t.strictSame([reply.status, reply.text, reply.headers.etag], [304, '', '"7"'])
})

t.test('a 204 has no length, whatever the node says', async t => {
  node.on('/eth/v1/node/empty', (request, response) => {
    response.socket?.end('HTTP/1.1 204 No Content\r\nContent-Length: 40\r\nConnection: close\r\n\r\n')
  })
  const reply = await get('/eth/v1/node/empty')
  t.strictSame([reply.status, reply.text, reply.headers['content-length']], [204, '', undefined])
})

t.test('preflights cost nothing and name the verbs of the path', async t => {
  const path = `${access.path}/eth/v1/beacon/states/head/validators`
  const headers = { 'access-control-request-headers': 'eth-consensus-version', ...plain }
  const reply = await gateway.send({ method: 'OPTIONS', path, headers })
  t.equal(reply.status, 204)
  t.equal(reply.headers['access-control-allow-methods'], 'GET, POST, OPTIONS')
  t.equal(reply.headers['access-control-allow-headers'], 'eth-consensus-version')
})

t.test('management is reached at the bare key', async t => {
  const { endpoints } = await access.managed('service_listEndpoints')
  t.ok(endpoints.some((endpoint: any) => endpoint.apiKey === access.key && endpoint.chain === 'beacon'))
  t.equal((await access.call('service_createEndpoint', [{ chain: 'nowhere' }])).error.code, -32602)
  const made = await access.managed('service_createEndpoint', [{ chain: 'beacon' }])
  t.match(made.httpsUrl, new RegExp(`^http://beacon-rpc.example.test/v1/rpc/${made.apiKey as string}$`))
})

t.test('one connection serves call after call, with and without bodies, and pipelined', async t => {
  node.on('/eth/v1/beacon/pool/attestations', (request, response) => {
    response.end(request.text)
  })
  const line = (verb: string, path: string, more = '') =>
    `${verb} ${access.path}${path} HTTP/1.1\r\nHost: x\r\n${more}`
  const bytes =
    line('GET', '/eth/v1/node/one', '\r\n') +
    line('POST', '/eth/v1/beacon/pool/attestations', 'Content-Length: 3\r\n\r\ntwo') +
    line('POST', '/eth/v1/nothing', 'Content-Length: 3\r\n\r\nxxx') +
    line('GET', '/eth/v1/node/three', 'Connection: close\r\n\r\n')
  const reply = await exchange(gateway.port, bytes)
  t.strictSame(
    [...reply.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ['200', '200', '404', '200'],
  )
  t.match(reply, /two/)
})

t.test('a connection outlives an upstream that broke while the body was on its way', async t => {
  node.unread = true
  node.on('/eth/v1/beacon/pool/attestations', async (_, response, incoming) => {
    for await (const piece of incoming) if (piece !== null) response.socket?.resetAndDestroy()
  })
  const socket = await openSocket(gateway.port)
  let reply = ''
  socket.on('data', (chunk: Buffer) => (reply += String(chunk)))
  const head = `POST ${access.path}/eth/v1/beacon/pool/attestations HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n`
  socket.write(head + 'x'.repeat(1000))
  await until('it is refused', () => Promise.resolve(reply.includes('upstream_error')))
  node.unread = false
  const next = `GET ${access.path}/eth/v1/node/one HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`
  socket.write('x'.repeat(59_000) + next)
  await until('the next call is answered', () => Promise.resolve(reply.includes('{"data":"ok"}')))
  t.match(reply, /^HTTP\/1.1 502 .*HTTP\/1.1 200 /s)
})

t.test('the probe of a beacon node is its sync state, and no JSON-RPC ever reaches it', async t => {
  await gateway.headKnown('beacon')
  t.ok(node.looks > 0)
  t.notOk(
    node.requests.some(({ text, url }) => text.includes('jsonrpc') || url.startsWith('/v3/operator-secret?')),
  )
  node.sync = { head: 1000, syncing: true }
  await until('the route is syncing', async () => {
    const { networks } = await gateway.status()
    const route = networks.find(({ slug }: any) => slug === 'beacon').routes[0]
    return route.healthy === false && /syncing/.test(route.why)
  })
})
