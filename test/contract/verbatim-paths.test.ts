import fc from 'fast-check'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { startHttpNode } from '../support/scripted-http-node.ts'
import { exchange, statusOf } from '../support/tcp.ts'

const node = await startHttpNode(t)
const gateway = await startGateway(t, {
  methods: 'notification: { cost: 1 }\nfamilies: { http: { "GET /open/*": {} } }\n',
  networks: { net: { family: 'http', chainId: 'net' }, evm: { chainId: 1 } },
  routes: [
    { id: 'net-a', network: 'net', http: node.url },
    { id: 'evm-a', network: 'evm', http: 'http://127.0.0.1:1' },
  ],
})
const access = await createAccess(gateway, 'paid', 'net')

function ask(target: string): Promise<string> {
  return exchange(
    gateway.port,
    Buffer.from(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, 'latin1'),
  )
}

const hostile = [
  '/open/../secret',
  '/open/./a',
  '/open//a',
  '/open/a/',
  '/open/a/..',
  '/open/..',
  '/open/%2e%2e/secret',
  '/open/%2E%2E/secret',
  '/open/..%2fsecret',
  '/open/..%2Fsecret',
  '/open/%2e%2e%2fsecret',
  '/open/%252e%252e/secret',
  '/open/..;/secret',
  '/open;x/a',
  '/open/a;/../../secret',
  '/open\\..\\secret',
  '/open/..%5csecret',
  '/open/%00',
  '/open/a%00b',
  '/open/%c0%ae%c0%ae/secret',
  '/open/%c0%af',
  '/open/\xe9',
  '/open/a#b',
  '/open/a|b',
  '/op%65n/a',
  '//open/a',
  '/./open/a',
  '/../open/a',
  '/%6fpen/a',
  '/open/a?#x',
  '/open/a?\xe9',
  `/open/a?${'x'.repeat(9000)}`,
]

t.test('each trick is refused with 400 before a node hears of it', async t => {
  for (const path of hostile) {
    const reply = await ask(access.path + path)
    t.equal(statusOf(reply), 400, path.slice(0, 40))
  }
  t.equal(node.requests.length, 0)
})

t.test('targets that are none', async t => {
  const absolute = await ask(`http://x${access.path}/open/a`)
  t.equal(statusOf(absolute), 200, 'the absolute form is one way to write a target (RFC 9112, 3.2.2)')
  const elsewhere = await ask(`${access.path.replace('/net/', '/evm/')}/open/a`)
  t.equal(statusOf(elsewhere), 404, 'a path on a JSON-RPC network')
  t.equal(statusOf(await ask(`${access.path}/secret`)), 404)
  const upgrade = `GET ${access.path}/open/a HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n`
  t.match(await exchange(gateway.port, upgrade), /^HTTP\/1.1 404 .*"not_found"/s, 'a WebSocket')
  t.equal(statusOf(await ask(`${access.path}/open`)), 404, 'the prefix ends in a slash')
  t.equal(node.requests.length, 1)
})

t.test('the path and query that arrive are those that were sent', async t => {
  const target = '/open/a.b/..c/0xAB:,@?a=/../%2e%2e&b="\'<>\\^`{|}?&c=//;%00'
  t.equal(statusOf(await ask(access.path + target)), 200)
  t.equal(node.requests.at(-1)?.url, `/v3/operator-secret${target}&key=operator-secret-2`)
  t.equal(statusOf(await ask(`${access.path}/open/a?`)), 200, 'an empty query')
})

t.test('whatever is sent, a node only sees what the rule allows', async t => {
  const before = node.requests.length
  const piece = fc.oneof(
    fc.constantFrom(
      '/',
      '/open',
      '/open/',
      '..',
      '.',
      '%2e',
      '%2E%2e',
      '%2f',
      '%5C',
      ';',
      '\\',
      '%00',
      '%c0%ae',
      '?',
      '#',
    ),
    fc.constantFrom('a', 'secret', '0x1', '~', '%41', '\xc0\xae', '//', '*', '{', '&', '\x7f', '%'),
  )
  const targets = fc.oneof(
    fc.array(piece, { minLength: 1, maxLength: 7 }).map(parts => `/open/${parts.join('')}`),
    fc
      .array(fc.constantFrom('a', 'secret', '0x1'), { minLength: 1, maxLength: 3 })
      .map(parts => `/open/${parts.join('/')}`),
  )
  for (const target of fc.sample(targets, 300)) {
    const status = statusOf(await ask(access.path + target))
    t.ok([200, 400, 404].includes(status), `${status} for ${target}`)
  }
  const arrived = node.requests.slice(before).map(({ url }) => url)
  t.ok(arrived.length > 50, `${arrived.length} arrived`)
  for (const url of arrived) {
    const path = url.split('?', 1)[0] ?? ''
    t.match(path, /^\/v3\/operator-secret\/open\/[\w.~/-]+$/)
    t.equal(new URL(`http://x${path}`).pathname, path)
  }
})
