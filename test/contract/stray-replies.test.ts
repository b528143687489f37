import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

/** Replies that nobody asked for: seen, one that came late was given to the next caller of its connection as the answer. */
const someone = `0x${'1'.repeat(40)}`
const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})
const access = await createAccess(gateway, 'paid', 'alpha')

const text = (body: string): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
const own = (id: string, result: string): string => text(`{"jsonrpc":"2.0","id":${id},"result":"${result}"}`)

const strays: readonly (readonly [name: string, stray: (id: string) => string])[] = [
  ['the next id', id => own(String(Number(id) + 1), '0xdead')],
  ['the same id', id => own(id, '0xdead')],
  ['no id', () => text('{"jsonrpc":"2.0","result":"0xdead"}')],
  [
    'an error of an id that is null',
    () => text('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"stray"}}'),
  ],
  ['an error without an id', () => text('{"jsonrpc":"2.0","error":{"code":-32000,"message":"stray"}}')],
]

for (const [name, stray] of strays)
  t.test(`a stray reply with ${name} is not the answer to the call that follows`, async t => {
    let last = ''
    let count = 0
    node.on('eth_getBalance', ({ id, params }, response) => {
      count += 1
      // What its connection still holds comes before the answer, as if it had been late by as much; not more often than calls are repeated.
      if (count % 10 === 5) response.socket!.write(stray(last))
      last = id
      const [asked] = JSON.parse(params) as [string]
      response.end(`{"jsonrpc":"2.0","id":${id},"result":"${asked}"}`)
    })
    for (let n = 0; n < 18; n += 1) {
      const asked = `0x${n.toString(16).padStart(40, '0')}`
      const reply = await access.call('eth_getBalance', [asked, 'latest'])
      t.same([reply.result, reply.error], [asked, undefined], `call ${n}`)
    }
    t.equal(count, 20, 'two of them once more')
  })

t.test('a long stray reply is not begun, where its id comes first', async t => {
  const long = 'ab'.repeat(200 * 1024)
  let last = ''
  let count = 0
  node.on('eth_getCode', ({ id }, response) => {
    count += 1
    if (count === 2) response.socket!.write(own(last, long))
    last = id
    response.end(`{"jsonrpc":"2.0","id":${id},"result":"0x"}`)
  })
  for (let n = 0; n < 4; n += 1)
    t.match(await access.call('eth_getCode', [someone, 'latest']), { result: '0x' }, `call ${n}`)
  t.equal(count, 5, 'one of them once more')
})

t.test('an error that names no call is passed on where it is said again', async t => {
  let count = 0
  node.on('eth_getCode', (_, response) => {
    count += 1
    response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"invalid request"}}')
  })
  const { error } = await access.call('eth_getCode', [someone, 'latest'])
  t.match(error, { code: -32_000, message: 'invalid request' })
  t.equal(count, 2)
})
