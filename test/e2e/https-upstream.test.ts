/** Upstreams behind TLS: whose certificate is trusted, for the name that the URL has, is asked, and no other is sent anything. */
import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { echo, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { certificates } from '../support/tls.ts'
import type { TestCertificate } from '../support/tls.ts'

const NODE_EXTRA_CA_CERTS = fileURLToPath(new URL('../support/certificates/first.cert.pem', import.meta.url))

const node = await startNode(t, { chainId: 1001 })

/** Ends TLS in front of the node; counts the handshakes that came to an end, and those that took up an earlier session. */
async function behindTls(certificate: TestCertificate, host = '127.0.0.1') {
  const seen = { opened: 0, resumed: 0 }
  const server = createServer(certificate, socket => {
    seen.opened += 1
    if (socket.isSessionReused()) seen.resumed += 1
    const inner = connect(node.port, '127.0.0.1')
    for (const each of [socket, inner]) each.on('error', () => undefined)
    socket.pipe(inner).pipe(socket)
    t.teardown(() => socket.destroy())
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, host)
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { seen, port: (server.address() as AddressInfo).port }
}

const [trusted, misnamed, unknown] = [
  await behindTls(certificates.first),
  await behindTls(certificates.first, '127.0.0.2'),
  await behindTls(certificates.second),
]
const chainId = 1001
const gateway = await startGateway(
  t,
  {
    networks: { alpha: { chainId }, misnamed: { chainId }, renamed: { chainId }, unknown: { chainId } },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: `https://localhost:${trusted.port}` },
      { id: 'misnamed-a', network: 'misnamed', http: `https://127.0.0.2:${misnamed.port}` },
      {
        id: 'renamed-a',
        network: 'renamed',
        http: `https://127.0.0.2:${misnamed.port}`,
        headers: { Host: 'localhost' },
      },
      { id: 'unknown-a', network: 'unknown', http: `https://localhost:${unknown.port}` },
    ],
    methods: `${fewMethods}    eth_getCode: { params: [1, 2] }\n`,
  },
  { env: { NODE_EXTRA_CA_CERTS } },
)

t.test('calls pass, short and long, one and many', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const value = `0x${'a'.repeat(2 ** 20)}`
  node.on('web3_sha3', echo).on('eth_getCode', result(`"${value}"`))
  const echoed = await Promise.all(
    Array.from({ length: 50 }, (_, i) => access.call('web3_sha3', [`0x${i + 10}`])),
  )
  t.strictSame(
    echoed.map((reply): unknown => reply.result),
    Array.from({ length: 50 }, (_, i) => [`0x${i + 10}`]),
  )
  t.equal((await access.call('eth_getCode', [`0x${'1'.repeat(40)}`, 'latest'])).result, value)
  const sent = `0x${'b'.repeat(300_000)}`
  t.strictSame((await access.call('web3_sha3', [sent])).result, [sent])
  t.ok(trusted.seen.resumed > 0, 'later connections take up the session of an earlier one')
})

t.test('a certificate for another name, or of nobody that is trusted, is sent nothing', async t => {
  for (const [slug, { seen }] of [
    ['misnamed', misnamed],
    ['unknown', unknown],
  ] as const) {
    const access = await createAccess(gateway, 'paid', slug)
    const before = node.requests.length
    t.match(await access.call('web3_sha3', ['0x00']), { error: { data: { reason: 'no_route' } } }, slug)
    t.equal(node.requests.slice(before).filter(({ method }) => method === 'web3_sha3').length, 0)
    if (slug === 'unknown') t.equal(seen.opened, 0)
  }
})

t.test('bug: behind an address, the host of the headers did not say whose certificate it is', async t => {
  const access = await createAccess(gateway, 'paid', 'renamed')
  node.on('web3_sha3', echo)
  t.strictSame((await access.call('web3_sha3', ['0x01'])).result, ['0x01'])
})
