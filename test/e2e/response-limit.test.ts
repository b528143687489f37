import t from 'tap'
import { once } from 'node:events'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { meteredByMethod } from '../support/metered.ts'
import type { Handler } from '../support/node-replies.ts'
import { refused } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'

const MiB = 2 ** 20
const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  gateway: { limits: { response: '1MiB' } },
})
const access = await createAccess(gateway, 'paid', 'alpha')

/** Announces so many bytes, sends the first of them, and waits; `gone` is called when the connection ends. */
function announces(bytes: number, gone: () => void): Handler {
  return ({ id }, response) => {
    response.once('close', gone)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(bytes) })
    response.write(`{"jsonrpc":"2.0","id":${id},"result":"${'a'.repeat(1_000)}`)
  }
}

t.test(
  'a reply whose Content-Length is above limits.response is refused before a byte of it leaves',
  async t => {
    const ended = new Promise<void>(resolve => {
      node.on('web3_sha3', announces(MiB + 1, resolve))
    })
    const before = node.count('web3_sha3')
    const reply = await access.post(message('web3_sha3', ['0x00']))
    refused(t, reply, { reason: 'response_too_large', id: '1' })
    await ended
    t.equal(node.count('web3_sha3') - before, 1, 'no other route and no second try could help')
  },
)

t.test('one of exactly limits.response is passed on', async t => {
  const rest = '"}'
  node.on('web3_sha3', async ({ id }, response) => {
    const head = `{"jsonrpc":"2.0","id":${id},"result":"`
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(MiB) })
    response.write(head)
    response.end('a'.repeat(MiB - head.length - rest.length) + rest)
    await once(response, 'close')
  })
  const { status, text } = await access.post(message('web3_sha3', ['0x00']))
  t.equal(status, 200)
  t.match((JSON.parse(text) as { result: string }).result, /^a{1000}/)
  const metered = (await meteredByMethod(access)).get('web3_sha3')
  t.equal(metered?.calls, 2, 'both are charged: the node has done its work')
})
