import t from 'tap'
import { message } from '../support/access.ts'
import { hostOf } from '../support/config-files.ts'
import { observe } from '../support/observe.ts'
import { refused } from '../support/refusals.ts'
import { exchange, statusOf } from '../support/tcp.ts'
import { startBench } from './message-bench.ts'

const { gateway, nodes, access: create } = await startBench(t)
const access = await create('evm')
const { key } = access
const host = hostOf('alpha')
const body = message('web3_sha3', ['0x00'])
const answer = { jsonrpc: '2.0', id: 1, result: 'ok' }

/** Sends the call to a path under a Host header and tells the traces. */
const to = async (path: string, hostHeader?: string) =>
  observe(access, nodes.evm, () =>
    gateway.send({ path, body, headers: hostHeader === undefined ? {} : { host: hostHeader } }),
  )

const answering: [name: string, path: string, host?: string][] = [
  ['the host form', `/v1/rpc/${key}`, host],
  ['the host in capitals', `/v1/rpc/${key}`, host.toUpperCase()],
  ['the host with a port', `/v1/rpc/${key}`, `${host}:8080`],
  ['the host with a trailing dot', `/v1/rpc/${key}`, `${host}.`],
  ['the host with a trailing dot and a port', `/v1/rpc/${key}`, `${host}.:443`],
  ['a trailing slash', `/v1/rpc/${key}/`, host],
  ['a query', `/v1/rpc/${key}?a=b&c=/d`, host],
  ['a trailing slash and a query', `/v1/rpc/${key}/?`, host],
  ['the path form on an address', `/alpha/v1/rpc/${key}`],
  ['the path form on an unknown host', `/alpha/v1/rpc/${key}`, 'somewhere.else'],
  ['the path form with a trailing slash and a query', `/alpha/v1/rpc/${key}/?x`],
]

for (const [name, path, hostHeader] of answering) {
  t.test(`${name} answers`, async t => {
    const seen = await to(path, hostHeader)
    t.equal(seen.value.status, 200)
    t.strictSame(JSON.parse(seen.value.text), answer)
    t.equal(seen.sent.length, 1)
    t.equal(seen.requests, 1)
  })
}

t.test('the public route answers in both forms and charges no endpoint', async t => {
  for (const [path, hostHeader] of [
    ['/v1/rpc/public', host],
    ['/v1/rpc/public/', host],
    ['/alpha/v1/rpc/public', undefined],
  ] as const) {
    const seen = await to(path, hostHeader)
    t.equal(seen.value.status, 200)
    t.strictSame(JSON.parse(seen.value.text), answer)
    t.equal(seen.sent.length, 1)
    t.equal(seen.requests, 0)
  }
})

const unknown: [name: string, path: string, host?: string][] = [
  ['a host without a network', `/v1/rpc/${key}`, 'nowhere-rpc.example.test'],
  ['a host below a network', `/v1/rpc/${key}`, `x.${host}`],
  ['a host above a network', `/v1/rpc/${key}`, 'example.test'],
  ['a host with two trailing dots', `/v1/rpc/${key}`, `${host}..`],
  ['a slug without a network', `/nowhere/v1/rpc/${key}`],
  ['a slug in capitals', `/ALPHA/v1/rpc/${key}`],
  ["the path form on a network's own host", `/alpha/v1/rpc/${key}`, host],
  ['the host form on an address', `/v1/rpc/${key}`],
  ['another version', `/v2/rpc/${key}`, host],
  ['capitals in the path', `/V1/RPC/${key}`, host],
  ['something behind the key', `/v1/rpc/${key}/x`, host],
  ['two trailing slashes', `/v1/rpc/${key}//`, host],
  ['something in front', `/x/v1/rpc/${key}`, host],
  ['two slashes in front', `//v1/rpc/${key}`, host],
  ['dots', `/v1/../v1/rpc/${key}`, host],
  ['nothing but slashes', '//', host],
  ['the root of a network', '/', host],
  ['a broken escape', '/%ff%', host],
  ['a prototype name as slug', `/__proto__/v1/rpc/${key}`],
  ['another prototype name as slug', `/constructor/v1/rpc/${key}`],
]

for (const [name, path, hostHeader] of unknown) {
  t.test(`${name} is not found`, async t => {
    const seen = await to(path, hostHeader)
    refused(t, seen.value, { reason: 'not_found' })
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
  })
}

t.test('two Host headers are refused', async t => {
  const seen = await observe(access, nodes.evm, () =>
    exchange(
      gateway.port,
      `POST /v1/rpc/${key} HTTP/1.1\r\nHost: ${host}\r\nHost: nowhere.example.test\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    ),
  )
  t.equal(statusOf(seen.value), 400)
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
})

t.test('no Host header is refused', async t => {
  const reply = await exchange(
    gateway.port,
    `POST /alpha/v1/rpc/${key} HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n` +
      `Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  t.equal(statusOf(reply), 400)
  t.equal(nodes.evm.calls.filter(({ text }) => text.includes(key)).length, 0)
})
