import { once } from 'node:events'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { held, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

const chainId = 1001
const a = await startNode(t, { chainId })
const b = await startNode(t, { chainId })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId, hedge: true }, calm: { chainId } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: a.url },
    { id: 'alpha-b', network: 'alpha', http: b.url, priority: 2 },
    { id: 'calm-a', network: 'calm', http: a.url },
    { id: 'calm-b', network: 'calm', http: b.url, priority: 2 },
  ],
})
const body = message('web3_sha3', ['0x00'])

t.test('a safe read that is slower than usual gets a second route, and the first answer counts', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  a.on('web3_sha3', result('"from a"'))
  b.on('web3_sha3', result('"from b"'))
  for (let i = 0; i < 40; i += 1) t.match((await access.post(body)).text, 'from a')
  const before = { a: a.count('web3_sha3'), b: b.count('web3_sha3'), ...(await access.usage()) }
  let closed: Promise<unknown> | undefined
  a.on('web3_sha3', (_, response) => {
    closed = once(response, 'close')
  })
  t.match((await access.post(body)).text, 'from b')
  t.ok(closed !== undefined)
  await closed
  const after = { a: a.count('web3_sha3'), b: b.count('web3_sha3'), ...(await access.usage()) }
  t.strictSame(
    {
      a: after.a - before.a,
      b: after.b - before.b,
      requests: after.requests - before.requests,
      calls: after.calls - before.calls,
    },
    { a: 1, b: 1, requests: 1, calls: 1 },
    'one extra at most, and charged once',
  )
})

t.test('a network that does not ask for it is never hedged, nor is what is not safe', async t => {
  const gate = new Gate()
  const slow = held(gate, result('"from a"'))
  for (const [slug, method, params] of [
    ['calm', 'web3_sha3', ['0x00']],
    ['alpha', 'eth_sendRawTransaction', ['0x00']],
  ] as const) {
    const access = await createAccess(gateway, 'paid', slug)
    a.on(method, result('"from a"'))
    for (let i = 0; i < 40; i += 1) await access.post(message(method, params))
    const [before, sent] = [a.count(method), b.count(method)]
    a.on(method, slow)
    const replied = access.post(message(method, params))
    await a.arrived(method, before + 1)
    // Anything that the gateway would have sent meanwhile has had many times the usual delay to arrive.
    for (let i = 0; i < 40; i += 1) await access.post(message('eth_gasPrice'))
    t.equal(b.count(method), sent, `${slug} ${method}`)
    gate.open()
    t.match((await replied).text, 'from a')
  }
})
