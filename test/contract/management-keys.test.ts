/** Which keys may call `service_*`: `management.keys` of the gateway and of plans, and the pages they come from. */
import t from 'tap'
import { Visitor } from '../dashboard/support/visitor.ts'
import { message, type Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

const node = await startNode(t, { chainId: 1001 })
const start = (keys?: string): Promise<Gateway> =>
  startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
    plans: {
      own: { tiers: ['any'], management: { keys: 'none' } },
      open: { tiers: ['any'], management: { keys: 'all' } },
    },
    gateway: {
      dashboardHost: '127.0.0.1',
      ...(keys === undefined ? {} : { management: { keys, origins: ['https://ops.example'] } }),
    },
  })
const [all, first, none] = [await start(), await start('first'), await start('none')]

/** `made`, or the reason why an endpoint was not created. */
const create = async (access: Access, params: object = {}, origin?: string) => {
  const headers = origin === undefined ? {} : { origin }
  const body = message('service_createEndpoint', [{ chain: 'alpha', ...params }])
  const { result, error } = JSON.parse((await access.post(body, { headers })).text)
  return {
    reason: String(error?.data.reason ?? 'made'),
    path: pathOf(result?.httpsUrl),
    id: result?.endpointId,
  }
}
const pathOf = (url: unknown) => (typeof url === 'string' ? `/alpha${new URL(url).pathname}` : '')
const at = (access: Access, path: string) =>
  access.gateway
    .send({ path, body: message('service_createEndpoint', [{ chain: 'alpha' }]) })
    .then(({ text }) => String(JSON.parse(text).error?.data.reason ?? 'made'))

t.test('all: each key manages its account, those of endpoints that a key created too', async t => {
  const access = await createAccess(all, 'paid', 'alpha')
  const made = await create(access)
  t.equal(made.reason, 'made')
  t.equal(await at(access, made.path), 'made')
})

t.test('first: keys of endpoints that the operator created, and those that they let manage', async t => {
  const access = await createAccess(first, 'paid', 'alpha')
  const made = await create(access)
  t.equal(made.reason, 'made')
  t.equal(await at(access, made.path), 'management_denied')
  t.equal((await first.send({ path: made.path, body: message('web3_sha3', ['0x00']) })).status, 200)
  await access.managed('service_updateEndpoint', [{ endpointId: made.id, management: true }])
  t.equal(await at(access, made.path), 'made')
  const asked = await create(access, { management: true })
  t.equal(await at(access, asked.path), 'made', 'or at once')
})

t.test('none: no key, and no dashboard session of a key', async t => {
  const access = await createAccess(none, 'paid', 'alpha')
  t.equal((await create(access)).reason, 'management_denied')
  t.match(await new Visitor(none).signIn(access.key), { status: 403 })
  const { dashboardToken } = await withAccounts(none, store =>
    store.accounts.create({ name: 'token', plan: 'paid' }),
  )
  t.match(await new Visitor(none).signIn(dashboardToken), { status: 200 })
})

t.test('a plan has its own', async t => {
  t.equal((await create(await createAccess(all, 'own', 'alpha'))).reason, 'management_denied')
  const access = await createAccess(first, 'open', 'alpha')
  t.equal(await at(access, (await create(access)).path), 'made')
})

t.test(
  'a page manages with a key only if it is listed, is the dashboard, or is one the key is for',
  async t => {
    const access = await createAccess(first, 'paid', 'alpha')
    const reasons = async (origins: readonly string[]) => {
      const seen: Record<string, string> = {}
      for (const origin of origins) seen[origin] = (await create(access, {}, origin)).reason
      return seen
    }
    t.strictSame(
      await reasons(['https://evil.example', 'null', 'https://ops.example', 'http://127.0.0.1:1']),
      {
        'https://evil.example': 'origin_denied',
        null: 'origin_denied',
        'https://ops.example': 'made',
        'http://127.0.0.1:1': 'made',
      },
    )
    const call = await access.post(message('web3_sha3', ['0x00']), {
      headers: { origin: 'https://evil.example' },
    })
    t.equal(call.status, 200, 'other calls come from every page')
    const body = message('service_supportedNetworks')
    t.match((await access.post(body, { headers: { origin: 'https://evil.example' } })).text, /"result"/)
    const { endpointId } = access
    const change = { endpointId, allowedOrigins: ['https://mine.example'], management: true }
    await access.managed('service_updateEndpoint', [change])
    const headers = { origin: 'https://mine.example' }
    t.match((await access.post(message('service_listEndpoints'), { headers })).text, /"total"/)
  },
)
