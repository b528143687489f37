import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { message } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

t.test('200 racing creations end at exactly 100 endpoints', async t => {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  })
  const access = await createAccess(gateway, 'free', 'alpha')
  const creation = message('service_createEndpoint', [{ chain: 'alpha' }])
  const keys = new Set<string>()
  let limited = 0
  // Half of them come from another process, which knows no rate.
  const elsewhere = withAccounts(gateway, async store => {
    const wish = { accountId: access.accountId, network: 'alpha' }
    for (let i = 0; i < 100; i++) {
      const made = await store.endpoints.create(wish)
      if (typeof made === 'string') limited++
      else keys.add(made.apiKey)
      await pause(5)
    }
  })
  // Management has a rate of its own: whoever it stops tries again, all at once with the others.
  for (let racing = 100; racing > 0;) {
    const replies = await Promise.all(Array.from({ length: racing }, () => access.post(creation)))
    for (const { text } of replies) {
      const { result, error } = JSON.parse(text)
      if (error?.data?.reason === 'rate_limited') continue
      racing--
      if (error === undefined) keys.add(String(result.apiKey))
      else {
        limited++
        t.equal(error.code, -32003)
        t.equal(error.message, 'Endpoint limit reached (100)')
      }
    }
    if (racing > 0) await pause(1_500)
  }
  await elsewhere
  t.equal(keys.size, 99)
  t.equal(limited, 101)
  const { total, endpoints } = await access.managed('service_listEndpoints')
  t.equal(total, 100)
  t.equal(endpoints.length, 100)
  t.strictSame(new Set(endpoints.map(({ apiKey }: any) => String(apiKey))), keys.add(access.key))
  t.match((await access.managed('service_account')).endpoints, { used: 100, limit: 100 })

  const { endpointId } = endpoints.find(({ apiKey }: any) => apiKey !== access.key)
  await access.managed('service_updateEndpoint', [{ endpointId, status: 'inactive' }])
  t.match(await access.manage('service_createEndpoint', [{ chain: 'alpha' }]), { error: { code: -32003 } })
  await access.managed('service_deleteEndpoint', [{ endpointId }])
  await access.managed('service_createEndpoint', [{ chain: 'alpha' }])
  t.match(await access.manage('service_createEndpoint', [{ chain: 'alpha' }]), { error: { code: -32003 } })
})
