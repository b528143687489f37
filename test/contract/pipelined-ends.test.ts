/** What ends a connection takes no answer along that is still to come on it. */
import { once } from 'node:events'
import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { Gate } from '../support/gate.ts'
import { metricIs } from '../support/metrics.ts'
import { held, result } from '../support/node-replies.ts'
import { repliesIn } from '../support/raw-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { exchange, openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'

/** Milliseconds that a node takes: more than what is left of a refused body may. */
const SLOW = 2_500
const someone = `0x${'1'.repeat(40)}`

const node = await startNode(t, { chainId: 1001 })
node.on('eth_getBalance', async ({ id }, response) => {
  await new Promise(resolve => setTimeout(resolve, SLOW))
  response.end(`{"jsonrpc":"2.0","id":${id},"result":"0x5"}`)
})
node.on('eth_getTransactionCount', result('"0x1"'))
node.on('eth_getCode', result(JSON.stringify(`0x${'c'.repeat(400_000)}`)))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})

function post(path: string, body: string, headers: readonly string[] = [], version = '1.1'): string {
  const lines = [`POST ${path} HTTP/${version}`, 'Host: a', 'Content-Type: application/json', ...headers]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}
const call = ({ path }: Access, method: string, version = '1.1', headers: readonly string[] = []): string => {
  const body = message(method, [someone, 'latest'])
  return post(path, body, [`Content-Length: ${body.length}`, ...headers], version)
}

const MiB = 2 ** 20
const nowhere = '/nowhere/v1/rpc/none'
const refused: readonly (readonly [name: string, status: number, bytes: (path: string) => string])[] = [
  ['chunks without an end', 404, () => post(nowhere, '3\r\nabc\r\n', ['Transfer-Encoding: chunked'])],
  ['a long body that does not come', 404, () => post(nowhere, '', ['Content-Length: 200000'])],
  ['a long body that comes', 404, () => post(nowhere, 'x'.repeat(2 * MiB), [`Content-Length: ${2 * MiB}`])],
  ['a body that may not be so long', 413, path => post(path, '', [`Content-Length: ${6 * MiB}`])],
  ['a chunk that is none', 400, path => post(path, 'zz\r\n', ['Transfer-Encoding: chunked'])],
  ['an expectation that is none', 417, path => post(path, '', ['Expect: x', 'Content-Length: 10'])],
  ['two hosts', 400, path => post(path, '', ['Host: b', 'Content-Length: 0'])],
]

// Each waits for a slow node.
t.jobs = refused.length
for (const [name, status, bytes] of refused)
  t.test(`a refused request with ${name} is answered behind the slow call before it`, async t => {
    const access = await createAccess(gateway, 'paid', 'alpha')
    const text = await exchange(gateway.port, call(access, 'eth_getBalance') + bytes(access.path))
    const [first, second, ...others] = repliesIn(text)
    t.match(first, { status: 200, text: '"result":"0x5"' })
    t.match(second, { status, headers: { connection: 'close' } })
    t.same(others, [])
    t.equal((await access.usage()).requests, 1)
  })

t.test('calls behind one of HTTP/1.0, whose long reply ends the connection, are not begun', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const first = call(access, 'eth_getCode', '1.0', ['Connection: keep-alive'])
  const others = Array.from({ length: 10 }, () => call(access, 'eth_getTransactionCount')).join('')
  const text = await exchange(gateway.port, first + others)
  t.match(text, /^HTTP\/1\.1 200 OK\r\n/)
  t.equal(text.match(/^HTTP\/1\.1 /gm)?.length, 1)
  t.equal((await access.usage()).requests, 1)
})

t.test(
  'amid a drain what comes behind a reply that says `close` is neither answered nor charged',
  async t => {
    const leaving = await startGateway(t, {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    })
    const access = await createAccess(leaving, 'paid', 'alpha')
    const socket = await openSocket(leaving.port)
    let text = ''
    socket.on('data', (bytes: Buffer) => {
      text += bytes.toString()
    })
    const gate = new Gate()
    node.on('eth_getStorageAt', held(gate, result('"0x6"')))
    socket.write(call(access, 'eth_getStorageAt'))
    await until('it is at the node', () => Promise.resolve(node.count('eth_getStorageAt') > 0))
    leaving.signal('SIGTERM')
    await until('it drains', () => Promise.resolve(leaving.printed.includes('"msg":"draining')))
    // Its answer says `close`, and waits for that of the call before it.
    socket.write(call(access, 'eth_getTransactionCount'))
    await metricIs(leaving, 'tollgate_calls_total', {}, 1)
    socket.write(call(access, 'eth_getTransactionCount') + call(access, 'eth_getTransactionCount'))
    gate.open()
    await once(socket, 'close')
    const replies = repliesIn(text)
    t.same(
      replies.map(({ status, headers }) => [status, headers.connection]),
      [
        [200, 'keep-alive'],
        [200, 'close'],
      ],
    )
    await leaving.exited
    await leaving.start()
    t.equal((await access.usage()).requests, 2)
  },
)
