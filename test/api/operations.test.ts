import t from 'tap'
import { Validator } from '@seriousme/openapi-schema-validator'
import OpenAPIClientAxios from 'openapi-client-axios'
import { openApi } from '../../src/api/openapi.ts'
import { OPERATIONS } from '../../src/api/operations.ts'
import { SCOPES } from '../../src/ports/tokens.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { AdminApi, adminApi } from '../support/admin-api.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
})
const api = await adminApi(gateway, ...SCOPES)

const call = async (key: string) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${gateway.url}/alpha/v1/rpc/${key}`, { method: 'POST', headers, body })
  return {
    status: response.status,
    body: (await response.json()) as { result?: string; error?: { data: { reason: string } } },
  }
}

t.test('the document is a valid OpenAPI document, and is what the gateway shows', async t => {
  const shown = (await (await fetch(`${gateway.adminUrl}/openapi.json`)).json()) as object
  t.strictSame(shown, JSON.parse(JSON.stringify(openApi())))
  const result = await new Validator().validate(shown as never)
  t.strictSame(result.valid, true, JSON.stringify(result.errors))
})

t.test('a sign-up page makes an account, gives it a key, changes it and removes it', async t => {
  const made = await api.call('POST', '/v1/accounts', {
    name: 'Acme',
    plan: 'free',
    externalId: 'crm-1',
    email: 'a@example.org',
    labels: { tier: 'gold' },
  })
  t.equal(made.status, 201)
  const { accountId, dashboardToken, ...account } = made.body as Record<string, string>
  t.equal(made.headers.get('location'), `/v1/accounts/${accountId!}`)
  t.match(dashboardToken, /^tgd_/)
  t.match(account, {
    name: 'Acme',
    plan: 'free',
    status: 'active',
    externalId: 'crm-1',
    email: 'a@example.org',
    labels: { tier: 'gold' },
  })
  const path = `/v1/accounts/${accountId!}`
  const born = { network: 'alpha', name: 'first', labels: { stage: 'live' } }
  const endpoint = await api.call('POST', `${path}/endpoints`, born)
  t.match(endpoint, { status: 201, body: { labels: born.labels } })
  const { endpointId, apiKey, httpsUrl } = endpoint.body as Record<string, string>
  t.ok(httpsUrl!.endsWith(apiKey!))
  t.match(await call(apiKey!), { status: 200, body: { result: '0x3e9' } })

  const shown = await api.call('GET', path)
  t.match(shown.body, { accountId, endpoints: { used: 1, limit: 100 }, rate: Object })
  const changed = await api.call('PATCH', path, {
    plan: 'paid',
    email: null,
    labels: { tier: null, region: 'eu' },
  })
  t.match(changed.body, { plan: 'paid', email: null, externalId: 'crm-1', labels: { region: 'eu' } })
  t.strictSame((changed.body as { labels: object }).labels, { region: 'eu' })

  const list = await api.call('GET', `${path}/endpoints`)
  t.match(list.body, { items: [{ endpointId, name: 'first', keyHint: apiKey!.slice(-4) }], cursor: null })
  t.notMatch(JSON.stringify(list.body), apiKey!)
  const one = `/v1/endpoints/${endpointId!}`
  t.match((await api.call('GET', one)).body, { endpointId, accountId, status: 'active' })
  t.match((await api.call('PATCH', one, { status: 'inactive' })).body, { status: 'inactive' })
  t.match((await call(apiKey!)).body.error?.data, { reason: 'endpoint_inactive' })
  const limited = { status: 'active', perSecond: 5, dailyLimit: 2, allowedIps: ['127.0.0.1'] }
  t.match((await api.call('PATCH', one, limited)).body, limited)
  t.equal((await call(apiKey!)).status, 200)
  t.match((await call(apiKey!)).body.error?.data, { reason: 'quota_exhausted', scope: 'endpoint' })
  t.match((await api.call('PATCH', one, { dailyLimit: null })).body, { dailyLimit: null })
  t.match((await api.call('PATCH', one, { labels: { team: 'a', old: 'x' } })).body, { labels: { old: 'x' } })
  const { labels } = (await api.call('PATCH', one, { labels: { old: null, stage: null } })).body as {
    labels: object
  }
  t.strictSame(labels, { team: 'a' })

  for (const asked of [{ key: apiKey }, { endpointId }])
    t.match((await api.call('POST', '/v1/keys:lookup', asked)).body, {
      account: { accountId },
      endpoint: { endpointId },
    })
  await api.call('PATCH', path, { status: 'suspended' })
  const refused = (await call(apiKey!)).body.error?.data
  t.match(refused, { reason: 'account_suspended' })
  const { requestId } = refused as unknown as { requestId: string }
  t.match((await api.call('POST', '/v1/keys:lookup', { requestId })).body, {
    account: { accountId },
    endpoint: { endpointId },
    calls: [{ msg: 'refusal', requestId, status: 403, reason: 'account_suspended', method: null }],
  })

  t.equal((await api.call('DELETE', one)).status, 204)
  t.equal((await api.call('DELETE', one)).body.reason, 'endpoint_not_found')
  t.match((await api.call('POST', '/v1/keys:lookup', { endpointId })).body, {
    account: { accountId },
    endpoint: null,
  })
  t.equal((await api.call('DELETE', path)).status, 204)
  t.match(await api.call('GET', path), { status: 404, body: { reason: 'account_not_found' } })

  const { items } = (await api.call('GET', `/v1/audit?target=${accountId!}`)).body as {
    items: { action: string; actor: string; before: unknown }[]
  }
  t.strictSame(
    items.map(({ action }) => action),
    [
      'account.purged',
      'endpoint.deleted',
      'account.suspended',
      ...Array.from({ length: 5 }, () => 'endpoint.changed'),
      'account.changed',
      'endpoint.created',
      'account.created',
    ],
  )
  t.ok(items.every(({ actor, before }) => actor.startsWith('token:tok_') && before === null))
})

t.test('a generated client can do all of it', async t => {
  const { secret } = await withAccounts(gateway, store =>
    store.tokens.create({ name: null, scopes: SCOPES, expiresAt: null }),
  )
  const maker = new OpenAPIClientAxios.default({
    definition: `${gateway.adminUrl}/openapi.json`,
    axiosConfigDefaults: {
      baseURL: gateway.adminUrl,
      headers: { authorization: `Bearer ${secret}` },
      validateStatus: () => true,
    },
  })
  const client = (await maker.init()) as unknown as Record<
    string,
    (
      parameters?: object | null,
      body?: object,
      config?: object,
    ) => Promise<{ status: number; data: Record<string, never> }>
  >
  const used = new Set<string>()
  const ask = async (id: string, parameters?: object | null, body?: object, config?: object) => {
    used.add(id)
    const { status, data } = await client[id]!(parameters, body, config)
    return { status, data: data as Record<string, string> }
  }
  const patch = { headers: { 'content-type': 'application/merge-patch+json' } }
  const account = await ask('createAccount', { 'Idempotency-Key': 'g1' }, { name: 'Gen', plan: 'free' })
  t.equal(account.status, 201)
  const again = await ask('createAccount', { 'Idempotency-Key': 'g1' }, { name: 'Gen', plan: 'free' })
  t.strictSame(again.data, account.data)
  const id = account.data['accountId']!
  t.equal((await ask('getAccount', { id })).data['name'], 'Gen')
  t.equal((await ask('updateAccount', { id }, { name: 'Gen 2' }, patch)).data['name'], 'Gen 2')
  t.match((await ask('listAccounts', { limit: 1 })).data, { items: [{ name: 'Gen 2' }], cursor: null })
  const endpoint = await ask('createEndpoint', { id }, { network: 'alpha' })
  t.equal(endpoint.status, 201)
  const one = { id: endpoint.data['endpointId']! }
  t.match((await ask('listEndpoints', { id })).data, { items: [{ endpointId: one.id }] })
  t.equal((await ask('getEndpoint', one)).data['endpointId'], one.id)
  t.equal((await ask('updateEndpoint', one, { name: 'renamed' }, patch)).data['name'], 'renamed')
  t.match((await ask('rotateKey', one, { overlap: '1h' })).data, {
    endpointId: one.id,
    oldKeyExpiresAt: Number,
  })
  t.match((await ask('lookUpKey', null, { endpointId: one.id })).data, { account: { accountId: id } })
  t.match((await ask('getUsage', { account: id, groupBy: 'network' })).data, { by: 'day', rows: [] })
  t.match((await ask('listAudit', { target: id, limit: 2 })).data, { items: [{}, {}] })
  t.equal((await ask('deleteEndpoint', one)).status, 204)
  t.equal((await ask('deleteAccount', { id })).status, 204)
  t.strictSame([...used].sort(), OPERATIONS.map(({ id }) => id).sort(), 'every operation was asked')
})

t.test('lists have pages', async t => {
  const ids: string[] = []
  for (let i = 0; i < 5; i += 1) {
    const { body } = await api.call('POST', '/v1/accounts', {
      name: `page ${i}`,
      plan: 'free',
      labels: { n: String(i % 2) },
    })
    ids.push((body as { accountId: string }).accountId)
  }
  const walk = async (path: string, name: string): Promise<string[]> => {
    const found: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body } = await api.call('GET', `${path}${cursor === '' ? '' : `&cursor=${cursor}`}`)
      const page = body as { items: Record<string, string>[]; cursor: string | null }
      t.ok(page.items.length <= 2)
      found.push(...page.items.map(item => item[name]!))
      cursor = page.cursor
    }
    return found
  }
  t.strictSame(await walk('/v1/accounts?limit=2', 'accountId'), ids)
  t.strictSame(await walk('/v1/accounts?limit=2&label=n:1', 'accountId'), [ids[1], ids[3]])
  const trail = await walk('/v1/audit?limit=2&from=0', 'target')
  t.strictSame(trail.slice(0, 5), ids.toReversed())
  const { body } = await api.call('GET', '/v1/accounts?limit=1')
  t.match(await api.call('GET', `/v1/audit?cursor=${(body as { cursor: string }).cursor}`), {
    status: 400,
    body: { reason: 'invalid_params', detail: 'cursor is not one of a page of this list' },
  })
})

t.test('bug: a webhook that can lead nowhere public is refused at once', async t => {
  const { accountId } = (await api.call('POST', '/v1/accounts', { name: 'Hooks', plan: 'free' })).body as {
    accountId: string
  }
  const refused: Readonly<Record<string, RegExp>> = {
    'http://hooks.example.com/': /^webhook must be https$/,
    'https://10.0.0.1/x': /^webhook must lead to a public address/,
    'https://127.0.0.1/x': /^webhook must lead to a public address/,
    'https://2130706433/x': /^webhook must lead to a public address/,
    'https://[::127.0.0.1]/': /^webhook must lead to a public address/,
    'https://168.63.129.16/x': /^webhook must lead to a public address/,
    'https://localhost/x': /^webhook must lead to a public address/,
    'https://a.LOCALHOST./x': /^webhook must lead to a public address/,
    'https://user:word@hooks.example.com/': /^webhook must not hold a user name or a password$/,
    'https://hooks.example.com:0/': /^webhook must not have the port 0$/,
    'https://hooks.example.com/#frag': /^webhook must not have a fragment/,
    'ftp://hooks.example.com/': /^webhook must be a URL such as/,
  }
  for (const [webhook, detail] of Object.entries(refused))
    t.match(
      await api.call('PATCH', `/v1/accounts/${accountId}`, { webhook }),
      { status: 400, body: { reason: 'invalid_params', detail } },
      webhook,
    )
  const { webhook } = (await api.call('PATCH', `/v1/accounts/${accountId}`, {})).body as { webhook: unknown }
  t.equal(webhook, null, 'none was kept')
})

t.test('every mistake is a problem with a sentence', async t => {
  const account = (await api.call('POST', '/v1/accounts', { name: 'M', plan: 'free', externalId: 'm' }))
    .body as { accountId: string }
  const path = `/v1/accounts/${account.accountId}`
  const cases: readonly (readonly [string, string, unknown, number, string, RegExp])[] = [
    ['POST', '/v1/accounts', { name: 'A' }, 400, 'invalid_params', /^plan is required$/],
    ['POST', '/v1/accounts', { name: 'A', plan: 'none' }, 400, 'invalid_params', /^plan must be one of "/],
    ['POST', '/v1/accounts', { name: 'A', plan: 'public' }, 400, 'invalid_params', /^plan must be one of "/],
    ['POST', '/v1/accounts', { name: '', plan: 'free' }, 400, 'invalid_params', /^name must be 1 to 64/],
    [
      'POST',
      '/v1/accounts',
      { name: 'A', plan: 'free', mail: 1 },
      400,
      'invalid_params',
      /unknown field "mail"/,
    ],
    [
      'POST',
      '/v1/accounts',
      { name: 'A', plan: 'free', externalId: 'm' },
      409,
      'external_id_taken',
      /another account/,
    ],
    [
      'POST',
      '/v1/accounts',
      { name: 'A', plan: 'free', labels: { 'a b': '' } },
      400,
      'invalid_params',
      /^labels must be/,
    ],
    ['POST', '/v1/accounts', [], 400, 'invalid_params', /must be a JSON object/],
    ['POST', '/v1/accounts', '{', 400, 'parse_error', /not valid JSON/],
    ['PATCH', path, { status: 'gone' }, 400, 'invalid_params', /^status must be "active" or "suspended"$/],
    ['PATCH', '/v1/accounts/acc_none', {}, 404, 'account_not_found', /no such account/],
    [
      'GET',
      '/v1/accounts?limit=0',
      undefined,
      400,
      'invalid_params',
      /^limit must be a whole number from 1 to 1000$/,
    ],
    ['GET', '/v1/accounts?limit=1&limit=2', undefined, 400, 'invalid_params', /^limit is given twice$/],
    ['GET', '/v1/accounts?sort=name', undefined, 400, 'invalid_params', /unknown parameter "sort"/],
    ['GET', '/v1/accounts?cursor=x', undefined, 400, 'invalid_params', /^cursor is not/],
    ['POST', '/v1/accounts', '{"name":"A","name":"B","plan":"free"}', 400, 'parse_error', /each member once/],
    [
      'POST',
      '/v1/accounts',
      '{"name":"A","plan":"free","labels":{"a":"1","\\u0061":"2"}}',
      400,
      'parse_error',
      /once/,
    ],
    ['PATCH', path, { labels: { 'a b': '' } }, 400, 'invalid_params', /^labels must be/],
    ['GET', `${path}%00x`, undefined, 404, 'account_not_found', /no such account/],
    [
      'GET',
      '/v1/audit?from=253402300800',
      undefined,
      400,
      'invalid_params',
      /^from must be .* 253402300799 at most$/,
    ],
    ['GET', '/v1/accounts/%', undefined, 404, 'account_not_found', /no such account/],
    [
      'POST',
      `${path}/endpoints`,
      { network: 'none' },
      400,
      'invalid_params',
      /^network must be one of alpha$/,
    ],
    [
      'POST',
      `${path}/endpoints`,
      { network: 'alpha', perSecond: 0, expiresAt: 'x' },
      400,
      'invalid_params',
      /^perSecond must be .*; expiresAt must be /,
    ],
    ['POST', '/v1/accounts/acc_none/endpoints', { network: 'alpha' }, 404, 'account_not_found', /no such/],
    ['GET', '/v1/endpoints/ep_none', undefined, 404, 'endpoint_not_found', /no such endpoint/],
    ['POST', '/v1/endpoints/ep_none/rotate', {}, 404, 'endpoint_not_found', /no such endpoint/],
    ['PATCH', '/v1/endpoints/ep_none', {}, 404, 'endpoint_not_found', /no such endpoint/],
    ['POST', '/v1/keys:lookup', {}, 400, 'invalid_params', /one of key, endpointId and requestId/],
    ['POST', '/v1/keys:lookup', { key: 'tg_x' }, 404, 'not_found', /^no account has/],
    ['DELETE', '/v1/accounts/acc_none', undefined, 404, 'account_not_found', /no such account/],
    ['PUT', '/v1/accounts', undefined, 405, 'method_not_allowed', /^this path accepts GET, POST$/],
    ['GET', '/v1/nothing', undefined, 404, 'not_found', /openapi\.json/],
  ]
  for (const [method, path, body, status, reason, detail] of cases) {
    const reply = await api.call(method, path, body)
    t.match(reply, { status, body: { status, reason, detail, type: 'about:blank' } }, `${method} ${path}`)
  }
  t.equal((await api.call('PUT', '/v1/accounts')).headers.get('allow'), 'GET, POST')
})

t.test('an endpoint is made with its restrictions', async t => {
  const { body: account } = await api.call('POST', '/v1/accounts', { name: 'restricted', plan: 'free' })
  const path = `/v1/accounts/${(account as { accountId: string }).accountId}/endpoints`
  const restrictions = {
    status: 'inactive',
    management: false,
    allowedOrigins: ['https://app.example.org'],
    allowedIps: ['203.0.113.7', '2001:db8::/32'],
    perSecond: 2,
    dailyLimit: 10,
    expiresAt: 4_000_000_000,
  }
  const made = await api.call('POST', path, { network: 'alpha', name: 'app', ...restrictions })
  t.match(made, { status: 201, body: { name: 'app', ...restrictions } })
  const { endpointId } = made.body as { endpointId: string }
  t.match(await api.call('GET', `/v1/endpoints/${endpointId}`), { status: 200, body: restrictions })
  const [create, update] = ['createEndpoint', 'updateEndpoint'].map(
    id => OPERATIONS.find(operation => operation.id === id)!.body!.optional,
  )
  t.strictSame(Object.keys(create!).sort(), Object.keys(update!).sort(), 'whatever an edit takes')
})

t.test('usage of all accounts, summed and filtered as asked', async t => {
  const accesses = [
    await createAccess(gateway, 'paid', 'alpha'),
    await createAccess(gateway, 'paid', 'alpha'),
  ]
  for (const [i, access] of accesses.entries())
    for (let call = 0; call <= i; call += 1) await access.call(call === 0 ? 'eth_chainId' : 'eth_gasPrice')
  const [first, second] = accesses.map(({ accountId }) => accountId) as [string, string]
  const usage = async (query: string): Promise<any> => {
    const { status, body } = await api.call('GET', `/v1/usage?${query}`)
    return (status === 200 ? body.rows : body.reason) as unknown
  }
  const mine = (rows: readonly Record<string, unknown>[]) =>
    rows.filter(({ accountId }) => accountId === first || accountId === second)
  t.strictSame(
    mine(await usage('groupBy=account&method=eth_chainId')).map(({ accountId, calls }) => [accountId, calls]),
    [first, second].sort().map(id => [id, 1]),
  )
  t.match(await usage(`groupBy=method&account=${second}`), [
    { method: 'eth_chainId', calls: 1 },
    { method: 'eth_gasPrice', calls: 1, requests: 1 },
  ])
  t.strictSame(await usage(`groupBy=account,method&account=${second}&network=elsewhere`), [])
  t.match(await usage(`groupBy=endpoint&endpoint=${accesses[0]!.endpointId}&detail=true`), [
    { endpointId: accesses[0]!.endpointId, calls: 1, refusalsByReason: {}, latency: null },
  ])
  const buckets = await until('the ledger has how long its upstream took', async () => {
    const [row] = await usage(`groupBy=method&account=${second}&method=eth_gasPrice&detail=true`)
    return row.latency !== null && row.latency.p50 <= row.latency.p95 && (row.latency.buckets as object)
  })
  t.strictSame(Object.values(buckets), [1])
  t.match(mine(await usage('groupBy=time,account&by=hour')), [{ calls: Number }, { calls: Number }])
  t.equal(await usage('account=acc_none'), 'account_not_found')
  t.equal(await usage('groupBy=nothing'), 'invalid_params')
  t.equal(await usage('from=5&to=5'), 'invalid_params')
  t.equal(await usage('by=week'), 'invalid_params')
  const top = await usage('groupBy=account&top=1')
  t.equal(top.length, 2)
  t.ok(Number(top[1].other) >= 1)
})

t.test('what the listener itself refuses is a problem, too', async t => {
  const body = { name: 'A', plan: 'free' }
  const cases: readonly (readonly [unknown, Record<string, string>, number, string])[] = [
    [body, { origin: 'https://elsewhere.example' }, 403, 'forbidden'],
    [body, { 'content-type': 'text/plain' }, 415, 'unsupported_media_type'],
    [' '.repeat(1024 * 1024 + 1), {}, 413, 'body_too_large'],
  ]
  for (const [sent, headers, status, reason] of cases)
    t.match(await api.call('POST', '/v1/accounts', sent, headers), { status, body: { status, reason } })
  const cursor = Buffer.from('audit x').toString('base64url')
  t.equal((await api.call('GET', `/v1/audit?cursor=${cursor}`)).status, 400)
})

t.test('only a token with the scope may ask', async t => {
  const nobody = new AdminApi(gateway, null)
  const wrong = new AdminApi(gateway, `tga_${'0'.repeat(38)}`)
  for (const { method, path, scope } of OPERATIONS) {
    const at = path.replace('{id}', 'acc_none')
    const body = method === 'POST' || method === 'PATCH' ? {} : undefined
    for (const client of [nobody, wrong]) {
      const reply = await client.call(method, at, body)
      t.match(reply, { status: 401, body: { reason: 'unauthorized' } })
      t.equal(reply.headers.get('www-authenticate'), 'Bearer')
    }
    const others = await adminApi(gateway, ...SCOPES.filter(each => each !== scope))
    const refused = await others.call(method, at, body)
    t.match(refused, { status: 403, body: { reason: 'forbidden', scope } }, `${method} ${path}`)
    const alone = await adminApi(gateway, scope)
    t.not((await alone.call(method, at, body)).status, 403)
  }
})

t.test('the same Idempotency-Key twice makes one account, in a race and across a restart', async t => {
  const wish = { name: 'Once', plan: 'free' }
  const post = (key: string, body: object, client = api) =>
    client.call('POST', '/v1/accounts', body, { 'idempotency-key': key })
  const count = async () =>
    ((await api.call('GET', '/v1/accounts?limit=1000')).body as { items: { name: string }[] }).items.filter(
      ({ name }) => name === 'Once',
    ).length
  const race = await Promise.all(Array.from({ length: 20 }, () => post('k', wish)))
  for (const each of race) t.strictSame(each.body, race[0]!.body)
  t.equal(race[0]!.status, 201)
  t.equal(await count(), 1)
  await gateway.kill9()
  await gateway.start()
  t.strictSame((await post('k', wish)).body, race[0]!.body)
  t.equal(await count(), 1)
  t.match(await post('k', { ...wish, plan: 'paid' }), {
    status: 422,
    body: { reason: 'idempotency_key_reused' },
  })
  t.match(await post('two words', wish), {
    status: 400,
    body: { reason: 'invalid_params', detail: /^Idempotency-Key/ },
  })
  const other = await adminApi(gateway, 'accounts:write')
  t.not((await post('k', wish, other)).body.accountId, race[0]!.body.accountId, 'keys are a token’s own')
  t.equal(await count(), 2)

  const id = (race[0]!.body as { accountId: string }).accountId
  const path = `/v1/accounts/${id}/endpoints`
  const endpoints = await Promise.all(
    Array.from({ length: 5 }, () => api.call('POST', path, { network: 'alpha' }, { 'idempotency-key': 'e' })),
  )
  for (const each of endpoints) t.strictSame(each.body, endpoints[0]!.body)
  t.equal(((await api.call('GET', path)).body as { items: object[] }).items.length, 1)
})

t.test('the hundred-and-first endpoint is a problem', async t => {
  const { accountId } = (await api.call('POST', '/v1/accounts', { name: 'Full', plan: 'free' })).body as {
    accountId: string
  }
  const create = () => api.call('POST', `/v1/accounts/${accountId}/endpoints`, { network: 'alpha' })
  for (let i = 0; i < 100; i += 1) t.equal((await create()).status, 201)
  t.match(await create(), { status: 409, body: { reason: 'endpoint_limit' } })
})

t.test('bug: a body of bytes that are not UTF-8 was stored with other characters', async t => {
  const response = await fetch(`${gateway.adminUrl}/v1/accounts`, {
    method: 'POST',
    body: Buffer.from([...Buffer.from('{"plan":"free","name":"'), 0xff, 0x22, 0x7d]),
    headers: { authorization: `Bearer ${api.token}`, 'content-type': 'application/json' },
  })
  t.equal(response.status, 400)
  t.match(await response.json(), { reason: 'parse_error' })
})

t.test('bug: the same request with its members in another order was taken for another one', async t => {
  const send = (body: string) => api.call('POST', '/v1/accounts', body, { 'idempotency-key': 'members' })
  const first = await send('{"name":"Once","plan":"free","labels":{"a":"1","b":"2"}}')
  const again = await send('{"plan":"free","labels":{"b":"2","a":"1"},"name":"Once"}')
  t.strictSame([first.status, again.status, again.body], [201, 201, first.body])
  t.equal((await send('{"name":"Other","plan":"free"}')).status, 422)
})

t.test('bug: a time that no calendar shows was taken', async t => {
  const { accountId } = (await api.call('POST', '/v1/accounts', { name: 'T', plan: 'free' })).body
  const made = await api.call('POST', `/v1/accounts/${accountId}/endpoints`, { network: 'alpha' })
  const path = `/v1/endpoints/${made.body.endpointId}`
  const expires = async (expiresAt: number) => (await api.call('PATCH', path, { expiresAt })).status
  t.equal(await expires(9_007_199_254_740_991), 400)
  t.equal(await expires(253_402_300_800), 400)
  t.equal(await expires(253_402_300_799), 200)
})
