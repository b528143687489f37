import t from 'tap'
import { Agent } from 'node:http'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { echo } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

const node = (await startNode(t, { chainId: 1001 })).on('web3_sha3', echo)

/** Java's HttpClient offers HTTP/2 with its first call over plain HTTP, and goes on in HTTP/1.1 where nobody takes it. */
t.test('a client that offers HTTP/2 with each call is answered, on every line of Node.js', async t => {
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
  })
  const access = await createAccess(gateway, 'paid', 'alpha')
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => {
    agent.destroy()
  })
  const offer = { connection: 'Upgrade, HTTP2-Settings', upgrade: 'h2c', 'http2-settings': 'AAMAAABkAAQ' }
  for (let i = 0; i < 12; i++) {
    const headers = i % 3 === 2 ? {} : offer
    const { status, text } = await access.post(message('web3_sha3', [i], i), {
      agent,
      headers,
      chunked: i % 2 === 0,
    })
    t.equal(status, 200)
    t.equal(text, `{"jsonrpc":"2.0","id":${i},"result":[${i}]}`)
  }
})
