import t from 'tap'
import { Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const node = await startSocketNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: fewMethods,
})
const rotate = async (access: Access, by: Access, overlap?: string) => {
  const params = overlap === undefined ? {} : { overlap }
  const reply = await by.manage('service_rotateKey', [{ endpointId: access.endpointId, ...params }])
  const { apiKey, oldKeyExpiresAt } = reply.result as { apiKey: string; oldKeyExpiresAt: number | null }
  const next = new Access(gateway, access.slug, apiKey, access.endpointId, access.accountId)
  return { next, oldKeyExpiresAt }
}

t.test(
  'old and new key serve during the overlap, then the old one is refused and its sockets end',
  async t => {
    const first = await createAccess(gateway, 'paid', 'alpha')
    await first.manage('service_updateEndpoint', [
      { endpointId: first.endpointId, name: 'mine', perSecond: 50 },
    ])
    t.equal((await first.call('eth_chainId')).result, '0x3e9')
    const began = Math.floor(Date.now() / 1000)
    const { next, oldKeyExpiresAt } = await rotate(first, first, '3s')
    t.ok(oldKeyExpiresAt! >= began + 3 && oldKeyExpiresAt! <= began + 6)
    const [oldSocket, newSocket] = [await openClient(t, first), await openClient(t, next)]
    for (const access of [first, next]) t.equal((await access.call('eth_chainId')).result, '0x3e9')
    t.equal((await first.manage('service_listEndpoints')).error.data.reason, 'management_denied')
    t.equal(
      (await first.manage('service_rotateKey', [{ endpointId: first.endpointId }])).error.data.reason,
      'management_denied',
    )

    t.match(await oldSocket.closed, { code: 1008, reason: 'invalid_key' })
    t.ok(Date.now() / 1000 >= oldKeyExpiresAt!, 'not before its time')
    t.equal((await first.call('eth_chainId')).error.data.reason, 'invalid_key')
    t.equal((await newSocket.call('eth_chainId')).result, '0x3e9')
    const { endpoints, total } = (await next.manage('service_listEndpoints')).result
    t.equal(total, 1, 'it is the same endpoint')
    t.match(endpoints[0], {
      endpointId: first.endpointId,
      name: 'mine',
      perSecond: 50,
      apiKey: next.key,
      callCount: 4,
    })
  },
)

t.test('a leaked key ends at once, and so does the dashboard session that was opened with it', async t => {
  const first = await createAccess(gateway, 'paid', 'alpha')
  const socket = await openClient(t, first)
  const leaked = await withAccounts(gateway, store => {
    const signIn = store.signIns.open(first.key)!
    return store.sessions.open(signIn, Date.now())
  })
  const { stdout } = await run([
    'endpoint',
    'rotate',
    first.endpointId,
    '--overlap',
    '0s',
    '--config',
    gateway.dir,
  ])
  t.match(stdout, /^HTTP +http:.*\nold key +has ended\n\nexport KEY=tg_\w{38}\n$/s)
  t.match(await socket.closed, { code: 1008, reason: 'invalid_key' })
  t.equal((await first.call('eth_chainId')).error.data.reason, 'invalid_key')
  await withAccounts(gateway, async store => {
    t.equal(await store.sessions.find(leaked, Date.now()), null)
  })
})

t.test('an endpoint that expires is refused from then on, until its owner prolongs it', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const [other] = [await createAccess(gateway, 'paid', 'alpha')]
  const socket = await openClient(t, access)
  const expiresAt = Math.floor(Date.now() / 1000) + 2
  const change = async (expiresAt: number | null) =>
    withAccounts(gateway, store => store.endpoints.change(null, access.endpointId, { expiresAt }))
  const told = await access.manage('service_updateEndpoint', [{ endpointId: access.endpointId, expiresAt }])
  t.equal(told.result.expiresAt, expiresAt)
  t.match(await socket.closed, { code: 1008, reason: 'invalid_key' })
  t.equal((await access.call('eth_chainId')).error.data.reason, 'invalid_key')
  await change(null)
  await until('it serves again', async () => (await access.call('eth_chainId')).result === '0x3e9')
  t.equal((await other.call('eth_chainId')).result, '0x3e9')
})

t.test('the hour of the last call is shown after a stop', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const hour = (): number => Math.floor(Date.now() / 3_600_000) * 3600
  const before = hour()
  await access.call('eth_chainId')
  await gateway.stop()
  await gateway.start()
  const { result } = await access.manage('service_getEndpoint', [{ endpointId: access.endpointId }])
  t.ok(result.lastUsedAt === before || result.lastUsedAt === hour(), String(result.lastUsedAt))
  t.ok((await metric(gateway, 'tollgate_requests_total')) >= 0)
})
