import t, { type Test } from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { hostOf } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { observe } from '../support/observe.ts'
import { rawItems } from '../support/raw-json.ts'
import { refused, refusedItem, type Reason } from '../support/refusals.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { askUpgrade, openClient } from '../support/socket-client.ts'
import { exchange } from '../support/tcp.ts'
import { until } from '../support/until.ts'

/** What the contract calls a second, on a machine that does other things too. */
const soon = 5_000

const node = await startSocketNode(t, { chainId: 1001 })
const solanaNode = await startSocketNode(t)
const config = {
  networks: {
    alpha: { chainId: 1001, public: true },
    sol: { family: 'solana' as const, chainId: 'solana-test' },
  },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl },
    { id: 'sol-a', network: 'sol', http: solanaNode.url, ws: solanaNode.wsUrl },
  ],
  methods: `${fewMethods}  solana:\n    getSlot: {}\n`,
}
const gateway = await startGateway(t, { ...config, gateway: { trustedProxies: ['127.0.0.1/32'] } })
const body = message('web3_sha3', ['0x00'])
const owners = {
  evm: await createAccess(gateway, 'paid', 'alpha'),
  solana: await createAccess(gateway, 'paid', 'sol'),
}
const bodies = { evm: body, solana: message('getSlot') }

/** An endpoint with restrictions, and a way to change them through another key of its account. */
async function restricted(family: 'evm' | 'solana', change: object) {
  const owner = owners[family]
  const access = await owner.another(owner.slug)
  const update = (more: object): Promise<unknown> =>
    owner.managed('service_updateEndpoint', [{ endpointId: access.endpointId, ...more }])
  await update(change)
  return { access, owner, update }
}

type Headers = Readonly<Record<string, string>>
/** Holds every way in against a refusal: a call, a batch, management, the host form, a preflight, a handshake. */
async function deniedEverywhere(
  t: Test,
  access: Access,
  headers: Headers,
  reason: Reason,
  family: 'evm' | 'solana',
) {
  const hosted = { path: `/v1/rpc/${access.key}`, headers: { ...headers, host: hostOf(access.slug) } }
  for (const text of [bodies[family], `[${bodies[family]}]`, message('service_account'), '{'])
    refused(t, await access.post(text, { headers }), { reason, family })
  refused(t, await access.post(bodies[family], hosted), { reason, family })
  refused(t, await askUpgrade(gateway.port, access.path, headers), { reason, family })
}
async function allowedEverywhere(t: Test, access: Access, headers: Headers, family: 'evm' | 'solana') {
  t.equal((await access.post(bodies[family], { headers })).status, 200)
  t.equal((await access.post(`[${bodies[family]}]`, { headers })).status, 200)
  t.equal((await askUpgrade(gateway.port, access.path, headers)).status, 101)
}

const origins = ['https://App.Example:443', 'http://localhost:3000', 'chrome-extension://abcdefghijkl']
const originsIn = ['https://app.example', 'http://localhost:3000', 'chrome-extension://abcdefghijkl']
const originsOut = [
  'null',
  '',
  '*',
  'https://evil.test',
  'http://app.example',
  'https://app.example:443',
  'https://app.example:8443',
  'https://APP.example',
  'HTTPS://app.example',
  'https://app.example.',
  'https://sub.app.example',
  'https://app.example.evil.test',
  'https://evilapp.example',
  'https://app.example/',
  'https://app.example@evil.test',
  'https://app.example https://evil.test',
  'https://app.example, https://app.example',
  'app.example',
  '//app.example',
  'http://localhost',
  'http://localhost:3001',
  'http://localhost:30000',
  'chrome-extension://abcdefghijkm',
]
const addresses = ['203.0.113.7', '198.51.100.9/24', '2001:db8:1:2::/64', '::ffff:192.0.2.0/120']
const addressesIn = [
  '203.0.113.7:80',
  '[2001:db8:1:2::1]',
  '[2001:db8:1:2::1]:443',
  '203.0.113.7',
  '::ffff:203.0.113.7',
  '::ffff:cb00:7107',
  '198.51.100.0',
  '198.51.100.255',
  '192.0.2.55',
  '2001:db8:1:2::1',
  '2001:0DB8:0001:0002:FFFF::1',
  '8.8.8.8, 203.0.113.7',
  'nonsense, 203.0.113.7',
  '203.0.113.7, 127.0.0.1',
]
const addressesOut = [
  '203.0.113.8',
  '198.51.101.0',
  '198.51.99.255',
  '192.0.3.0',
  '2001:db8:1:3::1',
  '2001:db8:1:1:ffff:ffff:ffff:ffff',
  '203.0.113.7, 203.0.113.8',
  '203.0.113.7:x',
  '[2001:db8:1:2::1',
  '"203.0.113.7"',
  'unknown',
  '',
  '203.0.113.7,',
  '203.0.113.7 203.0.113.7',
  '203.0.113.7;',
  '2002:cb00:7107::1',
  '64:ff9b::203.0.113.7',
]

for (const family of ['evm', 'solana'] as const) {
  t.test(`${family}: allowedOrigins lets in these pages and nothing else`, async t => {
    const { access, owner } = await restricted(family, { allowedOrigins: origins })
    const of = family === 'evm' ? node : solanaNode
    const seen = await observe(
      access,
      of,
      async () => {
        await deniedEverywhere(t, access, {}, 'origin_denied', family)
        for (const origin of originsOut)
          await deniedEverywhere(t, access, { origin }, 'origin_denied', family)
      },
      owner,
    )
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
    for (const origin of originsIn) await allowedEverywhere(t, access, { origin }, family)
    const preflight = await access.post('', { method: 'OPTIONS', headers: { origin: 'https://evil.test' } })
    t.equal(preflight.status, 204, 'a preflight carries no call')
  })

  t.test(`${family}: allowedIps lets in these addresses and no others`, async t => {
    const { access, owner } = await restricted(family, { allowedIps: addresses, management: true })
    const of = family === 'evm' ? node : solanaNode
    const from = (address: string) => ({ 'x-forwarded-for': address })
    const seen = await observe(
      access,
      of,
      async () => {
        await deniedEverywhere(t, access, {}, 'address_denied', family)
        for (const address of addressesOut)
          await deniedEverywhere(t, access, from(address), 'address_denied', family)
      },
      owner,
    )
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
    for (const address of addressesIn) await allowedEverywhere(t, access, from(address), family)
  })

  t.test(
    `${family}: a change acts on open sockets within a second, in this process and from another`,
    async t => {
      const { access, owner, update } = await restricted(family, { allowedOrigins: origins })
      const open = (headers: Headers) => openClient(t, access, { headers })
      const app = { origin: 'https://app.example' }
      const local = { origin: 'http://localhost:3000' }
      const staying = await open({ ...local, 'x-forwarded-for': '203.0.113.7' })
      const leaving = await open({ ...app, 'x-forwarded-for': '203.0.113.7' })
      await update({ allowedOrigins: ['http://localhost:3000'] })
      t.same(await leaving.closedBy('its Origin', soon), { code: 1008, reason: 'origin_denied' })

      const elsewhere = await open({ ...local, 'x-forwarded-for': '203.0.113.8' })
      await withAccounts(gateway, store =>
        store.endpoints.change(null, access.endpointId, { allowedIps: ['203.0.113.7'] }),
      )
      t.same(await elsewhere.closedBy('its address', soon), { code: 1008, reason: 'address_denied' })
      t.match(await staying.exchange(bodies[family]), '"result"', 'whoever is still allowed stays')

      t.equal((await staying.call('service_account')).error.data.reason, 'management_denied', 'the default')
      await update({ management: true })
      t.match(await staying.call('service_account'), { result: { accountId: owner.accountId } })
      await update({ management: false })
      refusedItem(t, await staying.exchange(message('service_account')), {
        reason: 'management_denied',
        family,
        id: '1',
      })
      const items = rawItems(
        await staying.exchange(`[${message('service_listEndpoints')},${bodies[family]}]`),
      )
      refusedItem(t, items[0]!, { reason: 'management_denied', family, id: '1' })
      t.match(items[1], '"result"')

      await update({ perSecond: 1 })
      const spent = await until('the rate of the endpoint is spent', async () => {
        const reply = await staying.exchange(bodies[family])
        return reply.includes('"result"') ? undefined : reply
      })
      refusedItem(t, spent, { reason: 'rate_limited', family, id: '1', data: { limit: 1 } })
      await update({ perSecond: null })
      t.match(await staying.exchange(bodies[family]), '"result"')
    },
  )

  t.test(`${family}: management: false, alone, in batches and as a notification`, async t => {
    const { access, owner } = await restricted(family, { management: false })
    const before = await owner.managed('service_listEndpoints')
    for (const method of [
      'service_account',
      'service_listEndpoints',
      'service_createEndpoint',
      'service_supportedNetworks',
    ])
      refused(t, await access.post(message(method)), { reason: 'management_denied', family, id: '1' })
    const create = message('service_createEndpoint', [{ chain: access.slug }])
    const whole = await access.post(`[${create},${message('service_usage')}]`)
    t.equal(whole.status, 403, 'a batch that is refused as a whole')
    for (const item of rawItems(whole.text))
      refusedItem(t, item, { reason: 'management_denied', family, id: '1' })
    const mixed = await access.post(`[${create},${bodies[family]}]`)
    t.equal(mixed.status, 200)
    refusedItem(t, rawItems(mixed.text)[0]!, { reason: 'management_denied', family, id: '1' })
    t.match(rawItems(mixed.text)[1], '"result"')
    t.equal((await access.post(create.replace('"id":1,', ''))).status, 204)
    const { total } = await owner.managed('service_listEndpoints')
    t.equal(total, before.total, 'nothing was created')
  })

  t.test(`${family}: perSecond counts the calls of a batch and of every transport together`, async t => {
    const { access, owner } = await restricted(family, { perSecond: 5 })
    const client = await openClient(t, access)
    const seen = await observe(
      access,
      family === 'evm' ? node : solanaNode,
      async () => {
        const items: string[] = []
        for (let i = 0; i < 3; i++) {
          items.push(
            ...rawItems(
              (await access.post(`[${Array.from({ length: 40 }, () => bodies[family]).join()}]`)).text,
            ),
          )
          items.push(
            ...rawItems(
              await client.exchange(`[${Array.from({ length: 40 }, () => bodies[family]).join()}]`),
            ),
          )
        }
        return items
      },
      owner,
    )
    const passed = seen.value.filter(item => item.includes('"result"'))
    const stopped = seen.value.filter(item => !item.includes('"result"'))
    for (const item of stopped)
      refusedItem(t, item, { reason: 'rate_limited', family, id: '1', data: { limit: 5 } })
    t.ok(stopped.length > 0, `${passed.length} passed`)
    t.equal(seen.requests, passed.length)
  })
}

t.test('two Origin headers are none that is allowed', async t => {
  const { access } = await restricted('evm', { allowedOrigins: origins })
  const head = `POST ${access.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n`
  const ask = (lines: string) =>
    exchange(gateway.port, `${head}${lines}Content-Length: ${body.length}\r\n\r\n${body}`)
  t.match(await ask('Origin: https://app.example\r\nOrigin: https://app.example\r\n'), /origin_denied/)
  t.match(await ask('Origin: https://app.example\r\nOrigin: https://evil.test\r\n'), /origin_denied/)
  t.match(await ask('Origin:\r\n'), /origin_denied/)
  t.match(await ask('oRiGiN: https://app.example\r\n'), /"result"/)
})

t.test('the public route knows nothing of a key and its restrictions', async t => {
  const reply = await owners.evm.post(body, {
    path: '/alpha/v1/rpc/public',
    headers: { origin: 'https://evil.test' },
  })
  t.equal(reply.status, 200)
})

t.test('without trusted proxies the address is that of the connection, whatever a header says', async t => {
  const bare = await startGateway(t, config)
  const owner = await createAccess(bare, 'paid', 'alpha')
  const access = await owner.another('alpha')
  const limit = (allowedIps: string[]) =>
    owner.managed('service_updateEndpoint', [{ endpointId: access.endpointId, allowedIps }])
  const headers = {
    'x-forwarded-for': '203.0.113.7',
    forwarded: 'for=203.0.113.7',
    'x-real-ip': '203.0.113.7',
  }
  await limit(['203.0.113.7'])
  refused(t, await access.post(body, { headers }), { reason: 'address_denied' })
  refused(t, await askUpgrade(bare.port, access.path, headers), { reason: 'address_denied' })
  await limit(['::ffff:127.0.0.1'])
  t.equal((await access.post(body, { headers })).status, 200)
})
