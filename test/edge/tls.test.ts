import t from 'tap'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { WebSocket } from 'ws'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'
import { prepareGateway } from '../support/gateway.ts'
import { get, send } from '../support/http.ts'
import { openFrom } from '../support/many-sockets.ts'
import { metric } from '../support/metrics.ts'
import { echo } from '../support/node-replies.ts'
import { repliesIn } from '../support/raw-replies.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { SocketClient } from '../support/socket-client.ts'
import { exchange } from '../support/tcp.ts'
import {
  certificates,
  exchangeTls,
  openTls,
  tlsYaml,
  writeCertificate,
  type TestCertificate,
} from '../support/tls.ts'
import { until } from '../support/until.ts'

const { first, second } = certificates
const node = await startSocketNode(t, { chainId: 1001 })
node.on('web3_sha3', echo)
const gateway = await prepareGateway(t, {
  baseUrl: 'https://{subdomain}.example.test',
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: fewAndSubscribe,
  gateway: { tls: tlsYaml, limits: { connectionsPerAddress: 20 } },
})
await writeCertificate(gateway.dir, first)
await gateway.start()
const access = await createAccess(gateway, 'paid', 'alpha')
const { port } = gateway
const adminPort = Number(new URL(gateway.adminUrl).port)
const expiryOf = ({ cert }: TestCertificate) => Date.parse(new X509Certificate(cert).validTo) / 1000
const body = message('web3_sha3', ['0x00'])
const post = (headers = '') =>
  `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}` +
  `Content-Length: ${body.length}\r\n\r\n${body}`
const last = post('Connection: close\r\n')
const call = async (trusted: TestCertificate) => repliesIn(await exchangeTls(port, trusted, last))[0]?.status
const reload = async () => {
  const { status, text } = await send(adminPort, { path: '/reload' })
  return { status, result: JSON.parse(text) }
}
const openSocketClient = async (trusted: TestCertificate) => {
  const socket = new WebSocket(`wss://127.0.0.1:${port}${access.path}`, { ca: trusted.cert })
  const client = new SocketClient(socket)
  await once(socket, 'open')
  t.teardown(() => socket.terminate())
  return client
}

t.test('calls and sockets are served over TLS 1.2 and 1.3', async t => {
  t.equal(await call(first), 200)
  const old = await openTls(port, first, { maxVersion: 'TLSv1.2' })
  t.equal(old.getProtocol(), 'TLSv1.2')
  old.destroy()
  const client = await openSocketClient(first)
  t.match(await client.call('web3_sha3', ['0x07']), { result: ['0x07'] })
  const subscription = await client.subscribe('eth_subscribe', ['newPendingTransactions'])
  node.push('eth_subscribe', '"0xaa"')
  await client.notified(subscription, 1)
  client.socket.close()
})

t.test('older TLS and plain HTTP are not', async t => {
  await t.rejects(openTls(port, first, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' }))
  await t.rejects(openTls(port, second), { code: /CERT|SELF_SIGNED/ })
  t.equal(await exchange(port, last), '')
  t.equal(await call(first), 200)
})

t.test('an offer of HTTP/2 gets its normal answer here too', async t => {
  const offer =
    'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n'
  const [reply] = repliesIn(await exchangeTls(port, first, post(offer)))
  t.equal(reply?.status, 200)
})

t.test('a renewed certificate is for new connections; the old ones go on', async t => {
  const kept = await openTls(port, first)
  let text = ''
  kept.on('data', (chunk: Buffer) => (text += chunk.toString()))
  kept.write(post())
  while (!text.endsWith('}')) await once(kept, 'data')
  const client = await openSocketClient(first)
  const expires = () => metric(gateway, 'tollgate_tls_certificate_expiry_timestamp_seconds')
  t.equal(await expires(), expiryOf(first))
  await writeCertificate(gateway.dir, second)
  const { status, result } = await reload()
  t.equal(status, 200)
  t.equal(result.ok, true)
  t.equal(await expires(), expiryOf(second))
  await t.rejects(openTls(port, first))
  t.equal(await call(second), 200)
  t.match(await client.call('web3_sha3', ['0x08']), { result: ['0x08'] })
  kept.write(last)
  await once(kept, 'close')
  t.strictSame(
    repliesIn(text).map(({ status }) => status),
    [200, 200],
  )
  client.socket.close()
})

t.test('a bad certificate is a problem with its place, and the old one serves on', async t => {
  const cases: [cert: string, key: string, path: string][] = [
    [first.cert, second.key, 'tls.key'],
    ['nonsense', second.key, 'tls.cert'],
    [second.cert, '', 'tls.key'],
  ]
  for (const [cert, key, path] of cases) {
    await writeCertificate(gateway.dir, { cert, key })
    const { status, result } = await reload()
    t.equal(status, 422)
    t.match(result.problems, [
      { file: 'gateway.yaml', path, severity: 'error', line: Number, column: Number },
    ])
    t.ok(result.problems[0].line > 1, 'the place is that of the key')
    t.equal(await call(second), 200)
  }
  const { code, stdout } = await run(['check', '--config', gateway.dir])
  t.equal(code, 1)
  t.match(stdout, /gateway\.yaml:\d+:\d+ tls\.key: /)
  t.match(JSON.parse((await get(`${gateway.adminUrl}/status`)).text), { reload: { ok: false } })
  t.notMatch(gateway.printed, /PRIVATE KEY/)
})

t.test('files that change are taken without a word, also when they are renamed into place', async () => {
  await writeFile(join(gateway.dir, 'cert.new'), first.cert)
  await writeFile(join(gateway.dir, 'key.new'), first.key)
  await rename(join(gateway.dir, 'cert.new'), join(gateway.dir, tlsYaml.cert))
  await rename(join(gateway.dir, 'key.new'), join(gateway.dir, tlsYaml.key))
  await until('the first certificate is served again', async () => {
    const status = await call(first).catch(() => 0)
    return status === 200
  })
})

t.test('handshakes that never end are bounded and cut by a drain', async t => {
  const idle = await openFrom('127.0.0.2', port, 25)
  // Over TLS nothing can be said before a handshake, so those on top are closed.
  const closed = idle.slice(20).map(async socket => socket.closed || once(socket, 'close'))
  await Promise.all(closed)
  t.notOk(idle.slice(0, 20).some(socket => socket.closed))
  t.equal(await call(first), 200)
  gateway.signal('SIGTERM')
  t.strictSame(await gateway.exited, { code: 0, signal: null })
})
