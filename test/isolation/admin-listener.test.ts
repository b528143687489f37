import { connect } from 'node:net'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import t from 'tap'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { get, send, type HttpOptions } from '../support/http.ts'
import { startNode } from '../support/scripted-node.ts'
import { exchange, openSocket, statusOf } from '../support/tcp.ts'
import { until } from '../support/until.ts'

/** Seen: any web page could have an operator's browser POST /reload, or read /status through a name of its own (DNS rebinding). */

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  gateway: { admin: '0.0.0.0:0', adminHosts: ['Tollgate', 'admin.example.com', '[2001:db8::1]'] },
})
const port = Number(new URL(gateway.adminUrl).port)
const ask = (options: HttpOptions) => send(port, { method: 'GET', path: '/status', ...options })
const external = Object.values(networkInterfaces())
  .flat()
  .find(one => one?.family === 'IPv4' && !one.internal)?.address

t.test('only hosts of its own are served', async t => {
  const own = [
    'localhost',
    'LOCALHOST:9464',
    'localhost.',
    '127.0.0.1',
    `127.0.0.1:${port}`,
    '127.9.8.7:1',
    '[::1]:1',
  ]
  own.push('[::ffff:127.0.0.1]', `0.0.0.0:${port}`, 'tollgate:9464', 'admin.example.com', '[2001:db8::1]:80')
  for (const host of own) t.equal((await ask({ headers: { host } })).status, 200, host)
  const foreign = [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    'x.localhost',
    'tollgate.evil.example',
  ]
  foreign.push(
    '10.1.2.3',
    '[2001:db8::2]',
    '127.0.0.1.evil.example',
    '128.0.0.1',
    '2130706433',
    '0x7f.1',
    'admin',
  )
  for (const host of foreign)
    for (const path of ['/status', '/metrics', '/livez', '/nothing', '/reload'])
      t.equal((await ask({ path, headers: { host } })).status, 403, `${host} ${path}`)
  for (const host of ['localhost,evil.example', 'evil.example@localhost', 'localhost/x', 'localhost:0', ''])
    t.equal(
      statusOf(await exchange(port, `GET /status HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)),
      400,
      host,
    )
  const twice = `GET /status HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n`
  t.equal(statusOf(await exchange(port, twice)), 400, 'two hosts')
})

t.test(
  'an address of this machine is its own where it is reached at it',
  { skip: external === undefined },
  async t => {
    const socket = connect(port, external ?? '')
    await once(socket, 'connect')
    let text = ''
    socket.setEncoding('utf8').on('data', (piece: string) => (text += piece))
    socket.write(`GET /livez HTTP/1.1\r\nHost: ${external}:${port}\r\nConnection: close\r\n\r\n`)
    await once(socket, 'close')
    t.equal(statusOf(text), 200)
    t.equal((await ask({ headers: { host: external } })).status, 403, 'not where it is reached at another')
  },
)

const reloads = async () => (await gateway.status()).reload.at as number

t.test('pages of other origins are refused', async t => {
  const before = await reloads()
  const host = `127.0.0.1:${port}`
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'http://127.0.0.1:3000' },
    { origin: 'http://localhost' },
    { origin: '' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
  ]
  for (const headers of foreign) {
    const reply = await ask({
      method: 'POST',
      path: '/reload',
      headers: { host, 'content-type': undefined, ...headers },
    })
    t.equal(reply.status, 403, JSON.stringify(headers))
    t.equal(reply.headers['access-control-allow-origin'], undefined)
  }
  t.equal((await ask({ headers: { host, origin: 'https://evil.example' } })).status, 403, 'reads too')
  t.equal(
    (await ask({ method: 'OPTIONS', path: '/reload', headers: { host, origin: 'https://evil.example' } }))
      .status,
    403,
  )
  t.equal(await reloads(), before, 'nothing was reloaded')
  const own = { host, origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }
  t.equal((await ask({ method: 'POST', path: '/reload', headers: own })).status, 200)
})

t.test('a body comes as application/json, and is bounded', async t => {
  const body = JSON.stringify({ network: 'alpha', method: 'eth_chainId' })
  const explain = (type: string | undefined, more: Record<string, string> = {}) =>
    ask({ method: 'POST', path: '/explain', body, headers: { 'content-type': type, ...more } })
  t.equal((await explain('application/json')).status, 200)
  t.equal((await explain('application/json; charset=utf-8')).status, 200)
  for (const type of [
    undefined,
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
  ])
    t.equal((await explain(type)).status, 415, String(type))
  t.equal((await explain('application/json', { 'content-encoding': 'gzip' })).status, 415)
  const chunked = {
    method: 'POST',
    path: '/reload',
    body: '{}',
    chunked: true,
    headers: { 'content-type': 'text/plain' },
  }
  t.equal((await ask(chunked)).status, 415)
  t.equal(
    (await ask({ method: 'POST', path: '/reload', headers: { 'content-type': undefined } })).status,
    200,
    'no body, no type',
  )
  t.equal(
    (await ask({ method: 'POST', path: '/reload', headers: { 'content-type': 'text/plain' } })).status,
    200,
  )
  const large = { method: 'POST', path: '/explain', body: `"${'x'.repeat(1024 * 1024)}"` }
  t.equal((await ask(large)).status, 413)
})

t.test('open connections are bounded', async t => {
  const sockets = await Promise.all(Array.from({ length: 300 }, () => openSocket(port)))
  const closed = sockets.map(socket => once(socket, 'close'))
  let over = 0
  for (const one of closed) void one.then(() => (over += 1))
  await until('what is beyond 256 is closed', () => Promise.resolve(over >= 44))
  t.ok(over <= 60, `${over} of 300 were closed`)
  for (const socket of sockets) socket.destroy()
  await Promise.all(closed)
  await until(
    'it answers again',
    async () => (await get(`${gateway.adminUrl}/livez`).catch(() => null))?.status === 200,
  )
})

t.test('a body that nests too deeply is refused, and breaks nothing', async t => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const bodies: readonly (readonly [path: string, body: string])[] = [
    ['/explain', `{"network":"alpha","method":"eth_call","params":${deep}}`],
    ['/explain', deep],
    ['/calls', `{"requestId":${deep}}`],
    ['/trace', `{"account":${deep}}`],
    ['/cache/purge', `{"network":${deep}}`],
    ['/restart', `{"primary":${deep}}`],
  ]
  for (const [path, body] of bodies) {
    const { status, text } = await ask({ method: 'POST', path, body })
    t.match({ status, text }, { status: 400, text: '{"error":"the body is not valid JSON"}\n' }, path)
  }
  const params = `${'['.repeat(500)}${']'.repeat(500)}`
  const body = `{"network":"alpha","method":"web3_sha3","params":${params}}`
  t.equal((await ask({ method: 'POST', path: '/explain', body })).status, 200)
  t.notMatch(gateway.printed, /internal error/)
})
