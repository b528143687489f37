import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { createAccount, runJson } from '../support/cli.ts'
import { hostOf, writeConfig } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpOptions, HttpReply } from '../support/http.ts'
import { observe } from '../support/observe.ts'
import { refused } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const solanaNode = await startNode(t)
const networks = {
  alpha: { chainId: 1001, public: true },
  beta: { chainId: 1001 },
  sol: { family: 'solana' as const, chainId: 'solana-test' },
}
const routes = [
  { id: 'alpha-a', network: 'alpha', http: node.url },
  { id: 'beta-a', network: 'beta', http: node.url },
  { id: 'sol-a', network: 'sol', http: solanaNode.url },
]
const gateway = await startGateway(t, {
  networks,
  routes,
  gateway: { limits: { body: '64KiB' }, trustedProxies: ['127.0.0.1/32'] },
})
const families = [
  { family: 'evm', slug: 'beta', node, body: message('web3_sha3', ['0x00']) },
  {
    family: 'solana',
    slug: 'sol',
    node: solanaNode,
    body: message('getMinimumBalanceForRentExemption', [1]),
  },
] as const
const evm = await createAccess(gateway, 'paid', 'beta')
const owners = { evm, solana: await evm.another('sol') }

/** A client address that nobody else in this file has: bad keys are counted by address. */
let addresses = 0
const fromAnew = () => ({ 'x-forwarded-for': `198.51.100.${++addresses}` })

/** A key as this program makes them that this gateway has never seen. */
async function foreignKey(): Promise<string> {
  const dir = await tempDir(t)
  await writeConfig(dir, { networks, routes })
  return (await createAccount(dir, 'paid', 'beta')).endpoint.apiKey
}

for (const { family, slug, node, body } of families) {
  const access = owners[family]
  const refusedFree = async (
    options: HttpOptions,
    expected: Parameters<typeof refused>[2],
    text: string | Buffer = body,
  ) => {
    const seen = await observe(access, node, () => access.post(text, options))
    refused(t, seen.value, { family, ...expected })
    t.same(seen.sent, [], 'nothing reached the node')
    t.equal(seen.requests, 0, 'nothing charged')
    t.equal(seen.calls, 0, 'nothing counted')
    return seen.value
  }

  t.test(`${family}: body_too_large, with and without a length`, async () => {
    const long = message('web3_sha3', ['a'.repeat(70_000)])
    await refusedFree({}, { reason: 'body_too_large' }, long)
    await refusedFree({ chunked: true }, { reason: 'body_too_large' }, long)
  })

  t.test(`${family}: a body just within the limit is read`, async t => {
    const padded = body + ' '.repeat(65_536 - body.length)
    const seen = await observe(access, node, () => access.post(padded))
    t.strictSame(JSON.parse(seen.value.text), { jsonrpc: '2.0', id: 1, result: 'ok' })
    t.equal(seen.requests, 1)
  })

  t.test(`${family}: unsupported_media_type`, async () => {
    await refusedFree({ headers: { 'content-type': 'text/plain' } }, { reason: 'unsupported_media_type' })
    await refusedFree({ headers: { 'content-encoding': 'gzip' } }, { reason: 'unsupported_media_type' })
  })

  t.test(`${family}: parse_error and invalid_request`, async () => {
    await refusedFree({}, { reason: 'parse_error' }, '{')
    await refusedFree({}, { reason: 'invalid_request' }, '1')
  })

  t.test(`${family}: method_not_allowed names what is`, async t => {
    for (const method of ['GET', 'PUT', 'DELETE', 'PATCH']) {
      const reply = await refusedFree({ method }, { reason: 'method_not_allowed' }, '')
      t.match(reply.headers.allow, /\bPOST\b/)
    }
  })

  t.test(`${family}: wrong_network`, async t => {
    const other = access.on(slug === 'beta' ? 'sol' : 'beta')
    // The code is that of the network asked; both columns agree here.
    await refusedFree({ path: other.path }, { reason: 'wrong_network' })
    await refusedFree({ path: access.on('alpha').path }, { reason: 'wrong_network' })
    const hosted = await access.post(body, {
      path: `/v1/rpc/${access.key}`,
      headers: { host: hostOf('alpha') },
    })
    refused(t, hosted, { reason: 'wrong_network' })
  })

  t.test(`${family}: endpoint_inactive, until it is active again`, async t => {
    const other = await access.another(slug)
    const setStatus = (status: string) =>
      access.managed('service_updateEndpoint', [{ endpointId: other.endpointId, status }])
    await setStatus('inactive')
    const seen = await observe(other, node, () => other.post(body), access)
    refused(t, seen.value, { reason: 'endpoint_inactive', family })
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
    await setStatus('active')
    t.equal((await other.post(body)).status, 200)
  })

  t.test(`${family}: invalid_key is one and the same answer`, async t => {
    const dead = await access.another(slug)
    t.equal((await dead.post(body)).status, 200)
    await access.managed('service_deleteEndpoint', [{ endpointId: dead.endpointId }])
    const tampered = access.key.slice(0, -1) + (access.key.endsWith('a') ? 'b' : 'a')
    const keys: Record<string, string> = {
      absent: '',
      malformed: 'nonsense',
      'with a wrong checksum': tampered,
      'in capitals': access.key.toUpperCase(),
      'with a broken escape': '%ff',
      'with escapes': `%74${access.key.slice(1)}`,
      'very long': 'a'.repeat(4000),
      unknown: await foreignKey(),
      deleted: dead.key,
      'public where the network is not': 'public',
      'a prototype name': '__proto__',
    }
    const comparable = ({ status, headers, text }: HttpReply) => {
      const stable: Record<string, unknown> = { ...headers }
      for (const name of ['x-request-id', 'date']) delete stable[name]
      return { status, headers: stable, text: text.replace(/"requestId":"[^"]*"/, '"requestId":"…"') }
    }
    const replies: [string, HttpReply][] = []
    const seen = await observe(access, node, async () => {
      for (const [name, key] of Object.entries(keys)) {
        for (const options of [
          { path: `/${slug}/v1/rpc/${key}`, headers: fromAnew() },
          { path: `/v1/rpc/${key}`, headers: { host: hostOf(slug), ...fromAnew() } },
        ])
          replies.push([name, await access.post(body, options)])
      }
    })
    refused(t, replies[0]![1], { reason: 'invalid_key', family })
    const first = comparable(replies[0]![1])
    for (const [name, reply] of replies) t.strictSame(comparable(reply), first, `a key that is ${name}`)
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
  })

  t.test(`${family}: origin_denied and address_denied`, async t => {
    const guarded = await access.another(slug)
    const { endpointId } = guarded
    const limit = (change: object) =>
      access.managed('service_updateEndpoint', [{ endpointId, management: true, ...change }])
    const from = (headers: Record<string, string>) => guarded.post(body, { headers })
    await limit({ allowedOrigins: ['https://app.example'] })
    const seen = await observe(
      guarded,
      node,
      async () => {
        for (const origin of [undefined, 'https://evil.example', 'null'])
          refused(t, await from(origin === undefined ? {} : { origin }), { reason: 'origin_denied', family })
        await limit({ allowedOrigins: null, allowedIps: ['203.0.113.0/24', '2001:db8::7'] })
        for (const address of ['198.51.100.250', '203.0.114.1', '2001:db8::8', '127.0.0.1'])
          refused(t, await from({ 'x-forwarded-for': address }), { reason: 'address_denied', family })
      },
      access,
    )
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
    for (const address of ['203.0.113.9', '2001:db8::7', '::ffff:203.0.113.9', '1.2.3.4, 203.0.113.9'])
      t.equal((await from({ 'x-forwarded-for': address })).status, 200, address)
    refused(t, await from({ 'x-forwarded-for': '203.0.113.9, 198.51.100.250' }), {
      reason: 'address_denied',
      family,
    })
    await limit({ allowedOrigins: ['https://app.example'], allowedIps: null })
    t.equal((await from({ origin: 'https://app.example' })).status, 200)
  })
}

t.test('account_suspended, until it is resumed', async t => {
  const access = await createAccess(gateway, 'free', 'beta')
  const { body } = families[0]
  const onSolana = await createAccess(gateway, 'free', 'sol')
  for (const { accountId } of [access, onSolana])
    await runJson(gateway.dir, ['account', 'suspend', accountId])
  const suspended = await until('the account is suspended', async () => {
    const reply = await access.post(body)
    return reply.status === 200 ? undefined : reply
  })
  refused(t, suspended, { reason: 'account_suspended' })
  const management = await until('the other account is suspended', async () => {
    const reply = await onSolana.post(message('service_listEndpoints'))
    return reply.status === 200 ? undefined : reply
  })
  refused(t, management, { reason: 'account_suspended', family: 'solana' })
  const sent = node.calls.length
  refused(t, await access.post(body), { reason: 'account_suspended' })
  t.equal(node.calls.length, sent)
  const listed = await runJson(gateway.dir, ['endpoint', 'list', '--account', access.accountId])
  const charged: number = listed.endpoints[0].requestCount
  await runJson(gateway.dir, ['account', 'resume', access.accountId])
  await until('the account is resumed', async () => (await access.post(body)).status === 200)
  t.equal((await access.usage()).requests, charged + 1)
})

t.test('a network that was removed is not found; its endpoints stay listed', async t => {
  const own = await startGateway(t, { networks, routes })
  const access = await createAccess(own, 'paid', 'alpha')
  const gone = await access.another('beta')
  const { body } = families[0]
  t.equal((await gone.post(body)).status, 200)
  await own.stop()
  await writeConfig(own.dir, {
    networks: { alpha: networks.alpha },
    routes: routes.filter(({ network }) => network === 'alpha'),
    gateway: { acknowledge: ['endpoints-without-network'] },
  })
  await own.start()
  const sent = node.calls.length
  refused(t, await gone.post(body), { reason: 'not_found' })
  refused(t, await gone.post(body, { path: `/v1/rpc/${gone.key}`, headers: { host: hostOf('beta') } }), {
    reason: 'not_found',
  })
  t.equal(node.calls.length, sent)
  const { total, endpoints } = await access.managed('service_listEndpoints')
  t.equal(total, 2)
  t.hasStrict(
    endpoints.find(({ endpointId }: any) => endpointId === gone.endpointId),
    { chain: 'beta', requestCount: 1, callCount: 1 },
  )
})
