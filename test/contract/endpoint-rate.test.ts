import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { observe } from '../support/observe.ts'
import { startNode } from '../support/scripted-node.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})
const body = message('web3_sha3', ['0x00'])

t.test('perSecond holds one endpoint below the rate of its account', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const slow = await access.another('alpha')
  await access.managed('service_updateEndpoint', [{ endpointId: slow.endpointId, perSecond: 1 }])
  const burst = async (by: Access) => {
    const replies = await Promise.all(Array.from({ length: 40 }, () => by.post(body)))
    return replies.map(({ status }) => status)
  }
  const seen = await observe(slow, node, () => burst(slow), access)
  t.ok(seen.value.includes(429), `statuses: ${seen.value.join()}`)
  t.ok(seen.value.includes(200))
  t.equal(seen.requests, seen.value.filter(status => status === 200).length)
  t.notOk((await burst(access)).includes(429))
})
