import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { hostOf } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { exchange, statusOf } from '../support/tcp.ts'

/** Seen: a Host that is not a host, and a target with a fragment, were served as if they meant what a reader in front made of them. */

const node = await startSocketNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001, public: true } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods:
    'families: { evm: { web3_sha3: {}, eth_subscribe: { needs: [ws], subscribe: eth_unsubscribe } } }\n',
})
const access = await createAccess(gateway, 'paid', 'alpha')
const own = hostOf('alpha')
const body = message('web3_sha3', ['0x00'])
const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n`

const post = (target: string, host: string) =>
  `POST ${target} HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`
const socket = (target: string, host: string) => `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${upgrade}\r\n`
const path = access.path
const ownPath = `/v1/rpc/${access.key}`

const hosts = [
  '',
  `${own},evil.example`,
  `${own}, evil.example`,
  `user@${own}`,
  `user:pass@${own}`,
  `${own}/v1`,
  `${own}?x`,
  `${own}#x`,
  `${own} evil.example`,
  `${own}\tx`,
  `${own}:0`,
  `${own}:080`,
  `${own}:65536`,
  `${own}:999999999999`,
  `${own}:-1`,
  `${own}:80:80`,
  `${own}:http`,
  `http://${own}`,
  '.',
  '..',
  `.${own}`,
  '::1',
  '[::1',
  '::1]',
  '[]',
  '[::g]',
  '[1.2.3.4]',
  '[fe80::1%25eth0]',
  '[fe80::1%eth0]',
  '[::1]:0',
  '[::1]x',
  '%65xample.test',
  'ex_ample.test;x',
  'exämple.test',
  "o'hara.test",
  '*',
  `${'a'.repeat(300)}.test`,
]

for (const host of hosts)
  t.test(`Host ${JSON.stringify(host.slice(0, 60))} is refused`, async t => {
    const before = node.calls.length
    for (const bytes of [post(path, host), socket(path, host), post(`http://${own}${ownPath}`, host)]) {
      const reply = await exchange(gateway.port, bytes)
      t.equal(statusOf(reply), 400, reply.slice(0, 80))
      t.match(reply, /"reason":"invalid_request"/)
    }
    t.equal(node.calls.length, before)
  })

for (const authority of ['', `user@${own}`, `${own},x`, `${own}:0`, `${own}:99999`, '[::1', `${own}::`])
  t.test(`an absolute target of ${JSON.stringify(authority)} is refused`, async t => {
    for (const make of [post, socket]) {
      const reply = await exchange(gateway.port, make(`http://${authority}${ownPath}`, own))
      t.equal(statusOf(reply), 400, reply.slice(0, 80))
    }
  })

for (const target of [
  `${path}#`,
  `${path}#x`,
  `${path}?a#b`,
  `http://${own}${ownPath}#x`,
  `http://${own}#@evil/`,
])
  t.test(`a target with a fragment is refused: ${target.replace(access.key, 'KEY')}`, async t => {
    for (const make of [post, socket]) {
      const reply = await exchange(gateway.port, make(target, own))
      t.equal(statusOf(reply), 400, reply.slice(0, 80))
      t.match(reply, /"reason":"invalid_request"|^HTTP\/1\.1 400/)
    }
  })

t.test('what is a host is served', async t => {
  for (const host of [
    '[::1]:8080',
    '[::1]:',
    '[::ffff:127.0.0.1]',
    '127.0.0.1',
    '127.0.0.1:65535',
    'a_b-c.d',
    'localhost.',
  ])
    t.match(await exchange(gateway.port, post(path, host)), /"result":"ok"/, host)
  for (const host of [own, `${own}:8080`, `${own}.`, `${own}.:1`, own.toUpperCase(), `${own}:`, `${own}.:`])
    t.match(await exchange(gateway.port, post(ownPath, host)), /"result":"ok"/, host)
  t.match(await exchange(gateway.port, post(`http://${own}:80${ownPath}`, 'localhost')), /"result":"ok"/)
  t.match(await exchange(gateway.port, post(`http://${own}:${ownPath}`, 'localhost')), /"result":"ok"/)
})
