import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

/** Seen: replies of 256 to 320 KiB, whose last piece was the one with which they became too long to be held, were told as `upstream_error`. */
const KiB = 1024
const someone = `0x${'1'.repeat(40)}`
const sizes = Array.from({ length: 40 }, (_, n) => 240 * KiB + n * 2_503)

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})
const access = await createAccess(gateway, 'paid', 'alpha')

t.test('a reply of any size around what is held back is whole', async t => {
  for (const size of sizes) {
    const value = `0x${'a'.repeat(size)}`
    node.on('eth_getCode', result(JSON.stringify(value)))
    const reply = await access.call('eth_getCode', [someone, 'latest'])
    t.equal(
      reply.result === value,
      true,
      `${size} bytes${reply.error === undefined ? '' : `: ${reply.error.message}`}`,
    )
  }
  t.equal(node.requests.filter(({ method }) => method === 'eth_getCode').length, sizes.length)
})

t.test('so is one on several connections at a time', async t => {
  const value = `0x${'b'.repeat(300_000)}`
  node.on('eth_getCode', result(JSON.stringify(value)))
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => access.call('eth_getCode', [someone, 'latest'])),
  )
  for (const reply of replies) t.equal(reply.result === value, true)
})
