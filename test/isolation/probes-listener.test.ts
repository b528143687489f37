import t from 'tap'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Gate } from '../support/gate.ts'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { get, send, type HttpOptions } from '../support/http.ts'
import { LogReader } from '../support/log-lines.ts'
import { echo, held } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'

const gate = new Gate()
const node = (await startNode(t, { chainId: 1001 })).on('web3_sha3', held(gate, echo))
const config = (gateway: Readonly<Record<string, unknown>>) => ({
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  gateway,
})
const gateway = await startGateway(t, config({ probes: '0.0.0.0:0' }))
const port = Number(new URL(gateway.probesUrl).port)
const ask = (options: HttpOptions) =>
  send(port, { method: 'GET', path: '/livez', headers: { 'content-type': undefined }, ...options })

t.test('health and metrics are served under any name, as the admin listener serves them', async t => {
  for (const host of ['10.1.2.3:9465', 'tollgate.prod.svc', 'evil.example'])
    for (const path of ['/livez', '/readyz', '/metrics', '/livez?verbose'])
      t.equal((await ask({ path, headers: { host } })).status, 200, `${host} ${path}`)
  t.match(await ask({ path: '/livez' }), { text: 'ok\n', headers: { 'content-type': 'text/plain' } })
  t.match((await ask({ path: '/metrics' })).text, /^tollgate_config_info\{version="[^"]+"} 1$/m)
  t.match(await ask({ method: 'HEAD', path: '/readyz' }), { status: 200, text: '' })
})

t.test('nothing else is', async t => {
  const paths = ['/', '/status', '/reload', '/explain', '/metrics/', '//metrics', '/LIVEZ', '/v1/rpc/public']
  for (const path of paths)
    for (const method of ['GET', 'POST', 'OPTIONS'])
      t.match(
        await ask({ path, method }),
        { status: 404, text: '{"error":"not found"}\n' },
        `${method} ${path}`,
      )
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'TRACE'])
    for (const path of ['/livez', '/readyz', '/metrics'])
      t.equal((await ask({ path, method })).status, 404, `${method} ${path}`)
  t.equal((await ask({ body: 'x' })).status, 404, 'a body is not read')
  t.match((await gateway.status()).reload, { ok: true })
})

t.test('its connections are bounded, and full it does not hinder the admin listener', async t => {
  const sockets = await Promise.all(Array.from({ length: 300 }, () => openSocket(port)))
  let closed = 0
  for (const socket of sockets) socket.resume().once('close', () => (closed += 1))
  await until('those on top are closed', () => Promise.resolve(closed >= 44))
  t.equal(closed, 44)
  t.equal((await get(`${gateway.adminUrl}/livez`)).status, 200)
  for (const socket of sockets) socket.destroy()
})

t.test('none is open unless it is configured, and a reload says that it is read at start', async t => {
  const other = await startGateway(t, config({}))
  t.throws(() => other.probesUrl)
  const log = new LogReader(other)
  await writeFile(
    join(other.dir, 'gateway.yaml'),
    'listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nprobes: 127.0.0.1:9465\n',
  )
  t.match(
    await until('it is told', () =>
      Promise.resolve(log.all().find(({ msg }) => msg.includes('takes effect after a restart'))),
    ),
    { level: 'warn', msg: 'gateway.yaml: probes: the change takes effect after a restart' },
  )
  // Also when it has been taken already: the old one is still in effect.
  t.match(await run(['reload', '--config', other.dir]), {
    code: 0,
    stdout:
      /^nothing changed: version \w+ is already served, .*\ngateway\.yaml: probes: the change takes effect after a restart$/m,
  })
  await writeFile(
    join(other.dir, 'gateway.yaml'),
    'listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nprobes: "[::g]:1"\n',
  )
  t.equal((await fetch(`${other.adminUrl}/reload`, { method: 'POST' })).status, 422)
})

t.test('a stop: it says that it is not ready, and is there until the last call is over', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const call = access.post(message('web3_sha3', ['0x00']))
  await node.arrived('web3_sha3', 1)
  gateway.signal('SIGTERM')
  const told = await until('it is not ready', async () => {
    const { status, text } = await ask({ path: '/readyz' })
    return status === 503 && text
  })
  t.equal(told, 'draining\n')
  t.equal((await ask({ path: '/livez' })).status, 200)
  gate.open()
  t.equal((await call).status, 200)
  t.same(await gateway.exited, { code: 0, signal: null })
})
