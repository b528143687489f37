/** Refusals before a call is read: whose they are. */
import t from 'tap'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { startNode } from '../support/scripted-node.ts'
import { askUpgrade } from '../support/socket-client.ts'
import { message } from '../support/access.ts'

const node = await startNode(t, { chainId: 1001 })
const other = await startNode(t, { chainId: 1002 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 }, beta: { chainId: 1002 } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url },
    { id: 'beta-a', network: 'beta', http: other.url },
  ],
  methods: fewMethods,
})

type Change = Parameters<Parameters<typeof withAccounts>[1]>[0]['endpoints']['change']
const cases: readonly {
  readonly reason: string
  readonly change?: Parameters<Change>[2]
  readonly suspended?: boolean
  readonly on?: string
  readonly method?: string
}[] = [
  { reason: 'origin_denied', change: { allowedOrigins: ['https://app.example.org'] } },
  { reason: 'address_denied', change: { allowedIps: ['192.0.2.1'] } },
  { reason: 'endpoint_inactive', change: { status: 'inactive' } },
  { reason: 'account_suspended', suspended: true },
  { reason: 'wrong_network', on: 'beta' },
  { reason: 'management_denied', change: { management: false }, method: 'service_listEndpoints' },
]

for (const { reason, change, suspended, on = 'alpha', method = 'eth_chainId' } of cases)
  t.test(`${reason} is in its owner's ledger, and counted by network and plan`, async t => {
    const access = await createAccess(gateway, 'paid', 'alpha')
    await withAccounts(gateway, async store => {
      if (change !== undefined) await store.endpoints.change(null, access.endpointId, change)
      if (suspended === true) await store.accounts.change(access.accountId, { status: 'suspended' })
    })
    const labels = { network: on, plan: 'paid', reason }
    const before = await metric(gateway, 'tollgate_refusals_total', labels)
    const used = access.on(on)
    for (let i = 0; i < 3; i += 1) t.equal((await used.call(method)).error.data.reason, reason)
    const upgrades = method === 'eth_chainId' ? 1 : 0
    if (upgrades === 1) t.not((await askUpgrade(gateway.port, used.path)).status, 101)
    t.equal((await metric(gateway, 'tollgate_refusals_total', labels)) - before, 3 + upgrades)
    await gateway.stop()
    await gateway.start()
    const { stdout } = await run([
      'usage',
      '--account',
      access.accountId,
      '--detail',
      '--json',
      '--config',
      gateway.dir,
    ])
    const rows = JSON.parse(stdout) as Record<string, unknown>[]
    t.match(rows, [
      {
        endpointId: access.endpointId,
        network: 'alpha',
        calls: 0,
        requests: 0,
        refusals: 3 + upgrades,
        refusalsByReason: { [reason]: 3 + upgrades },
      },
    ])
    t.equal(rows.length, 1)
  })

t.test('a key that nobody has is nobody’s, and counts for its network', async t => {
  const labels = { network: 'alpha', plan: '', reason: 'invalid_key' }
  const before = await metric(gateway, 'tollgate_refusals_total', labels)
  await gateway.send({ path: '/alpha/v1/rpc/tg_nobody', body: message('eth_chainId') })
  t.equal((await metric(gateway, 'tollgate_refusals_total', labels)) - before, 1)
})
