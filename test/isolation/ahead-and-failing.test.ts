import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { reply, result } from '../support/node-replies.ts'
import { routesLookedAt, routesOf } from '../support/route-status.ts'
import { startNode } from '../support/scripted-node.ts'

/**
 * Seen: a node that claimed 60 blocks more than the others, which nobody has to prove, and failed every call got all reads of the newest
 * block: 692 of 708 calls were refused while honest nodes stood idle.
 */
const HEAD = 1_000
const LEAD = 60
const CALLS = 60
const params = [`0x${'1'.repeat(40)}`, 'latest']

for (const honest of [1, 2])
  t.test(`one route that is ahead and fails, beside ${honest}`, async t => {
    const liar = await startNode(t, { chainId: 1001, head: HEAD + LEAD })
    const others = await Promise.all(
      Array.from({ length: honest }, () => startNode(t, { chainId: 1001, head: HEAD })),
    )
    liar.on('eth_getBalance', reply(500, 'no'))
    for (const node of others) node.on('eth_getBalance', result('"0x1"'))
    const gateway = await startGateway(t, {
      networks: { alpha: { chainId: 1001 } },
      routes: [liar, ...others].map(({ url }, i) => ({ id: `alpha-${i}`, network: 'alpha', http: url })),
    })
    const access = await createAccess(gateway, 'paid', 'alpha')
    await routesLookedAt(gateway)
    const [ahead, ...behind] = await routesOf(gateway)
    t.equal(ahead!.healthy, true)
    for (const route of behind)
      t.match(route.why, /^60 blocks behind, so it serves reads .* only while no healthy route is ahead/)
    for (let i = 0; i < CALLS; i++) t.match(await access.call('eth_getBalance', params), { result: '0x1' })
    const asked = others.reduce((sum, node) => sum + node.calls.length, 0)
    t.equal(asked, CALLS, 'each was answered by an honest one')
    t.ok(liar.calls.length < CALLS / 4, 'and few were tried elsewhere')
  })
