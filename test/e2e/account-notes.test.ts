import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
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
const config = ['--config', gateway.dir]
const tollgate = (...args: string[]) => run([...args, ...config])
const json = async (...args: string[]) =>
  JSON.parse((await run([...args, '--json', ...config])).stdout) as Record<string, unknown>

t.test('an account is renamed, labelled, found and purged', async t => {
  const access = await createAccess(gateway, 'free', 'alpha')
  const { accountId, endpointId, key } = access
  t.match(await json('account', 'rename', accountId, 'New name'), { name: 'New name' })
  const noted = await json(
    'account',
    'label',
    accountId,
    '--set',
    'tier=gold',
    '--set',
    'region=eu',
    '--email',
    'a@example.org',
    '--external-id',
    'crm-7',
  )
  t.match(noted, { labels: { tier: 'gold', region: 'eu' }, email: 'a@example.org', externalId: 'crm-7' })
  const less = await json('account', 'label', accountId, '--remove', 'tier', '--email=')
  t.strictSame([less['labels'], less['email'], less['externalId']], [{ region: 'eu' }, null, 'crm-7'])

  const account = { accountId, name: 'New name', plan: 'free', status: 'active', externalId: 'crm-7' }
  for (const word of [key, endpointId])
    t.match(await json('find', word), { account, endpoint: { endpointId, status: 'active' } })
  for (const word of [accountId, 'crm-7']) t.strictSame(await json('find', word), { account, endpoint: null })
  const { stdout } = await tollgate('find', key)
  t.notMatch(stdout, key)

  t.equal((await access.call('eth_chainId')).result, '0x3e9')
  t.match(await tollgate('account', 'delete', accountId), {
    code: 2,
    stderr: /--purge is missing: .*account suspend/,
  })
  t.match(await tollgate('account', 'delete', accountId, '--purge'), {
    code: 0,
    stdout: `${accountId} is purged\n`,
  })
  await until('its key is refused', async () => {
    const after = (await access.call('eth_chainId')) as { error?: { data: { reason: string } } }
    return after.error?.data.reason === 'invalid_key'
  })
  t.match(await tollgate('find', accountId), {
    code: 1,
    stderr: /there is no account, endpoint or external id/,
  })
  t.match(await tollgate('find', key), { code: 1, stderr: /no endpoint has this key/ })
  t.match(await tollgate('account', 'delete', accountId, '--purge'), {
    code: 1,
    stderr: /there is no account/,
  })
  t.equal((await tollgate('usage', '--account', accountId)).code, 0, 'usage stays under the id')
})

t.test('an endpoint is labelled as it is made and afterwards, and shows its labels', async t => {
  const { accountId } = await createAccess(gateway, 'free', 'alpha')
  const made = await json(
    'endpoint',
    'create',
    '--account',
    accountId,
    '--chain',
    'alpha',
    '--label',
    'team=wallet',
    '--label',
    'legacy=',
  )
  const id = String(made['endpointId'])
  const shown = await tollgate('endpoint', 'label', id)
  t.match(shown, { code: 0, stdout: `${id}: legacy, team=wallet\n` })
  const changed = await json('endpoint', 'label', id, '--set', 'team=data', '--remove', 'legacy')
  t.strictSame(changed, { endpointId: id, labels: { team: 'data' } })
  const listed = await json('endpoint', 'list', '--account', accountId)
  t.match((listed['endpoints'] as unknown[]).at(-1), { endpointId: id, labels: { team: 'data' } })
})

t.test('an endpoint is restricted as it is made', async t => {
  const { accountId } = await createAccess(gateway, 'free', 'alpha')
  const before = Math.floor(Date.now() / 1000)
  const create = ['endpoint', 'create', '--account', accountId, '--chain', 'alpha'] as const
  await json(
    ...create,
    '--per-second',
    '5',
    '--daily',
    '100',
    '--ip',
    '192.0.2.0/24',
    '--ip',
    '::1',
    '--origin',
    'https://App.example',
    '--expires',
    '90d',
    '--no-management',
  )
  const listed = await json('endpoint', 'list', '--account', accountId)
  const made = (listed['endpoints'] as Record<string, unknown>[]).at(-1)!
  t.match(made, {
    perSecond: 5,
    dailyLimit: 100,
    allowedIps: ['192.0.2.0/24', '::1'],
    allowedOrigins: ['https://app.example'],
    management: false,
  })
  const lasts = Number(made['expiresAt']) - before
  t.ok(lasts >= 90 * 86_400 && lasts < 90 * 86_400 + 60, String(lasts))
  const refused: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['--daily', '0'], 2, /--daily must be a whole number of request units, at least 1/],
    [['--per-second', '1.5'], 2, /--per-second must be a whole number/],
    [['--expires', 'soon'], 2, /--expires must be a time such as 12h or 90d/],
    [['--ip', '10.0.0.0/40'], 1, /allowedIps/],
    [['--origin', 'app.example'], 1, /allowedOrigins/],
  ]
  for (const [options, code, stderr] of refused)
    t.match(await tollgate(...create, ...options), { code, stderr }, options.join(' '))
})

t.test('what is wrong is one sentence', async t => {
  const [one, two] = [
    await createAccess(gateway, 'free', 'alpha'),
    await createAccess(gateway, 'free', 'alpha'),
  ]
  await tollgate('account', 'label', one.accountId, '--external-id', 'x-1')
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['account', 'label', two.accountId, '--external-id', 'x-1'], 1, /another account has this external id/],
    [['account', 'label', two.accountId, '--set', 'a b=c'], 2, /--set takes NAME=VALUE/],
    [['endpoint', 'label', 'ep_none'], 1, /there is no endpoint "ep_none"/],
    [['endpoint', 'label', one.endpointId, '--set', 'a b=c'], 2, /--set takes NAME=VALUE/],
    [['endpoint', 'label', one.endpointId, '--set', `a=${'x'.repeat(65)}`], 1, /at most 64 printable/],
    [
      ['endpoint', 'create', '--account', one.accountId, '--chain', 'alpha', '--label', 'team'],
      ...([2, /--label takes NAME=VALUE/] as const),
    ],
    [['account', 'label', two.accountId, '--email', 'nobody'], 2, /--email must be an email address/],
    [['account', 'rename', two.accountId, ''], 2, /1 to 64 printable characters/],
    [['account', 'rename', 'acc_none', 'n'], 1, /there is no account "acc_none"/],
    [['find', `${one.key.slice(0, -1)}!`], 1, /not a whole key/],
    [['token', 'create'], 2, /--scope is missing; expected some of accounts:read/],
    [['token', 'create', '--scope', 'account:read'], 2, /accounts:read/],
    [['token', 'create', '--scope', 'audit:read', '--expires', 'soon'], 2, /--expires must be a time/],
    [['token', 'revoke', 'tok_none'], 1, /there is no token "tok_none"/],
    [['audit', '--limit', '0'], 2, /--limit must be a whole number/],
    [['audit', '--from', 'x'], 2, /--from must be a date/],
  ]
  for (const [args, code, stderr] of cases) t.match(await tollgate(...args), { code, stderr }, args.join(' '))
})

t.test('a token is made, listed, used and revoked', async t => {
  const made = await json(
    'token',
    'create',
    '--scope',
    'accounts:read,audit:read',
    '--name',
    'crm',
    '--expires',
    '1h',
  )
  const { tokenId, token } = made as Record<string, string>
  t.match(made, { name: 'crm', scopes: ['accounts:read', 'audit:read'], expiresAt: Number })
  const ask = async () =>
    (await fetch(`${gateway.adminUrl}/v1/accounts`, { headers: { authorization: `Bearer ${token!}` } }))
      .status
  t.equal(await ask(), 200)
  const { stdout } = await tollgate('token', 'list')
  t.match(stdout, new RegExp(`^TOKEN .*\n${tokenId!} +crm +accounts:read,audit:read +`))
  t.notMatch(stdout, token!)
  t.match(await tollgate('token', 'revoke', tokenId!), { code: 0, stdout: `${tokenId!} is revoked\n` })
  t.equal(await ask(), 401, 'at once')
  t.strictSame(await json('token', 'list'), [])
})
