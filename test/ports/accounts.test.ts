/** What every implementation of the ports Accounts, Endpoints, Keys and SignIns keeps to: the one on SQLite, and a plain one in memory. */
import t from 'tap'
import type { Test } from 'tap'
import { KeyCache } from '../../src/stores/sqlite/accounts/cache.ts'
import { isWellFormed, isWellFormedToken, mintKey, mintToken } from '../../src/stores/sqlite/accounts/secrets/keys.ts'
import type { Account } from '../../src/ports/accounts.ts'
import type { EndpointWithKey } from '../../src/ports/endpoints.ts'
import { openStore } from '../stores/accounts/support/open-store.ts'
import { plainAccounts, withoutKey } from '../support/plain-accounts.ts'
import type { PlainAccounts } from '../support/plain-accounts.ts'

const NOW = 1_700_000_000
const now = (): number => NOW

const implementations: Readonly<Record<string, (t: Test) => Promise<PlainAccounts>>> = {
  sqlite: async t => {
    const { store } = await openStore(t, { now })
    const { accounts, endpoints, signIns } = store
    return { accounts, endpoints, signIns, keys: new KeyCache(store) }
  },
  plain: async () => Promise.resolve(plainAccounts(now)),
}

/** An account with one endpoint. */
async function withEndpoint({
  accounts,
  endpoints,
}: PlainAccounts): Promise<{ account: Account; dashboardToken: string; endpoint: EndpointWithKey }> {
  const made = await accounts.create({ name: 'Acme', plan: 'free' })
  const endpoint = await endpoints.create({ accountId: made.account.id, network: 'bsc', name: 'prod' })
  if (typeof endpoint === 'string') throw new Error(endpoint)
  return { ...made, endpoint }
}

for (const [name, make] of Object.entries(implementations)) {
  t.test(`${name}: an account is found by id and by name, and listed by age`, async t => {
    const { accounts } = await make(t)
    const { account, dashboardToken } = await accounts.create({ name: 'Acme', plan: 'free' })
    const second = await accounts.create({ name: 'Beta', plan: 'paid' })
    const third = await accounts.create({ name: 'Acme', plan: 'paid' })
    t.match(account.id, /^acc_/)
    const { id } = account
    t.strictSame(account, { id, name: 'Acme', plan: 'free', status: 'active', createdAt: NOW })
    t.ok(isWellFormedToken(dashboardToken))
    t.strictSame(await accounts.find(id), account)
    t.equal(await accounts.find('acc_none'), null)
    t.strictSame(await accounts.list(), [account, second.account, third.account])
    t.strictSame(await accounts.named('Acme'), [id, third.account.id])
    t.strictSame(await accounts.named('acme'), [])
  })

  t.test(`${name}: plan and status change, each alone or both`, async t => {
    const { accounts, keys, ...others } = await make(t)
    const { account, endpoint } = await withEndpoint({ accounts, keys, ...others })
    const { id } = account
    t.strictSame(await accounts.change(id, { plan: 'paid' }), { ...account, plan: 'paid' })
    const suspended = { ...account, plan: 'paid', status: 'suspended' }
    const before = keys.changes
    t.strictSame(await accounts.change(id, { status: 'suspended' }), suspended)
    t.ok(keys.changes > before, 'who keeps the owner of a key knows that it has changed')
    t.equal(keys.find(endpoint.apiKey)?.account.status, 'suspended')
    t.strictSame(await accounts.change(id, { plan: 'free', status: 'active' }), account)
    t.equal(await accounts.change('acc_none', { plan: 'paid' }), null)
  })

  t.test(`${name}: a dashboard token signs in until it is rotated`, async t => {
    const { accounts, signIns, ...others } = await make(t)
    const { account, dashboardToken, endpoint } = await withEndpoint({ accounts, signIns, ...others })
    const [byToken, byKey] = [signIns.open(dashboardToken)!, signIns.open(endpoint.apiKey)!]
    const shown = withoutKey(endpoint)
    t.strictSame(signIns.owner(byToken), { account, endpoint: null })
    t.strictSame(signIns.owner(byKey), { account, endpoint: shown })
    for (const wrong of [mintToken(), mintKey(), 'tgd_short']) t.equal(signIns.open(wrong), null)
    const token = await accounts.rotateToken(account.id)
    t.ok(isWellFormedToken(token!))
    t.equal(signIns.open(dashboardToken), null)
    t.equal(signIns.owner(byToken), null)
    t.equal(signIns.owner(byKey), null, 'sessions opened with a key end too')
    t.strictSame(signIns.owner(signIns.open(token!)!), { account, endpoint: null })
    t.equal(await accounts.rotateToken('acc_none'), null)
  })

  t.test(`${name}: an endpoint is found by its key, with its account`, async t => {
    const ports = await make(t)
    const { endpoints, keys } = ports
    const { account, endpoint } = await withEndpoint(ports)
    const { apiKey, ...shown } = endpoint
    t.ok(isWellFormed(apiKey))
    const place = { id: endpoint.id, accountId: account.id, network: 'bsc', name: 'prod' }
    const open = { management: true, allowedOrigins: null, allowedIps: null, perSecond: null }
    t.strictSame(shown, { ...place, status: 'active', createdAt: NOW, ...open })
    t.strictSame(keys.find(apiKey), { account, endpoint: shown })
    t.strictSame(await endpoints.find(null, endpoint.id), endpoint)
    t.strictSame(await endpoints.find(account.id, endpoint.id), endpoint)
    t.equal(await endpoints.find('acc_other', endpoint.id), null)
    t.strictSame(await endpoints.list(account.id), [endpoint])
    t.equal(await endpoints.count(account.id), 1)
    t.equal(keys.find(mintKey()), null)
    t.equal(keys.find('tg_short'), null)
    t.equal(await endpoints.find(null, 'ep_none'), null)
    t.strictSame(await endpoints.list('acc_none'), [])
  })

  t.test(`${name}: an endpoint without a name gets one, and one without an account is refused`, async t => {
    const { accounts, endpoints } = await make(t)
    const { account } = await accounts.create({ name: 'Acme', plan: 'free' })
    t.match(await endpoints.create({ accountId: account.id, network: 'bsc' }), {
      name: /^bsc-endpoint-[a-z]{3}$/,
    })
    t.equal(await endpoints.create({ accountId: 'acc_none', network: 'bsc' }), 'no_account')
  })

  t.test(`${name}: an owner changes what is theirs, and only what the change names`, async t => {
    const ports = await make(t)
    const { accounts, endpoints, keys } = ports
    const { endpoint } = await withEndpoint(ports)
    const { accountId, id } = endpoint
    const other = (await accounts.create({ name: 'Other', plan: 'free' })).account
    t.equal(await endpoints.change(other.id, id, { status: 'inactive' }), null)
    t.equal(await endpoints.change(accountId, 'ep_none', { status: 'inactive' }), null)
    t.strictSame(await endpoints.change(accountId, id, {}), endpoint)

    const changed = { name: 'ü', status: 'inactive', allowedIps: ['10.0.0.0/8'], perSecond: 5 } as const
    t.strictSame(await endpoints.change(accountId, id, changed), { ...endpoint, ...changed })
    t.strictSame(await endpoints.list(accountId), [{ ...endpoint, ...changed }])
    t.equal(keys.find(endpoint.apiKey)?.endpoint.status, 'inactive', 'an inactive key is still known')

    const back = { status: 'active', allowedIps: null, perSecond: null, name: endpoint.name } as const
    t.strictSame(await endpoints.change(null, id, back), endpoint, 'the operator may change any')
  })

  t.test(`${name}: a list of origins takes management away unless the change keeps it`, async t => {
    const ports = await make(t)
    const { endpoint } = await withEndpoint(ports)
    const allowedOrigins = ['https://app.example.org']
    const change = (change: object) => ports.endpoints.change(endpoint.accountId, endpoint.id, change)
    t.match(await change({ allowedOrigins, management: true }), { allowedOrigins, management: true })
    t.match(await change({ allowedOrigins: null }), { allowedOrigins: null, management: true })
    t.match(await change({ allowedOrigins }), { allowedOrigins, management: false })
    t.match(await change({ allowedOrigins: null }), { allowedOrigins: null, management: false })
    const found = await ports.endpoints.find(null, endpoint.id)
    t.match(found, { allowedOrigins: null, management: false })
  })

  t.test(`${name}: a removed endpoint is gone but for its name`, async t => {
    const ports = await make(t)
    const { endpoints, keys, signIns } = ports
    const { endpoint } = await withEndpoint(ports)
    const { apiKey, ...rest } = endpoint
    const session = signIns.open(apiKey)!
    t.equal(await endpoints.remove('acc_other', endpoint.id), null)
    t.strictSame(await endpoints.remove(endpoint.accountId, endpoint.id), rest)
    t.equal(await endpoints.remove(endpoint.accountId, endpoint.id), null)
    t.equal(await endpoints.change(null, endpoint.id, { status: 'active' }), null)
    t.equal(keys.find(apiKey), null)
    t.equal(signIns.open(apiKey), null)
    t.equal(signIns.owner(session), null)
    t.equal(await endpoints.find(null, endpoint.id), null)
    t.strictSame(await endpoints.list(endpoint.accountId), [])
    const { accountId, network, name } = endpoint
    t.strictSame(await endpoints.label(endpoint.id), { accountId, network, name, deleted: true })
    t.equal(await endpoints.label('ep_none'), null)
  })

  t.test(`${name}: endpoints move to another network under their keys, of one account or of all`, async t => {
    const ports = await make(t)
    const { endpoints, keys } = ports
    const [mine, theirs] = [await withEndpoint(ports), await withEndpoint(ports)]
    t.equal(await endpoints.move('bsc', 'bnb', mine.account.id), 1)
    t.equal(keys.find(mine.endpoint.apiKey)?.endpoint.network, 'bnb')
    t.equal(keys.find(theirs.endpoint.apiKey)?.endpoint.network, 'bsc')
    t.equal(await endpoints.move('bsc', 'bnb', null), 1)
    t.equal(await endpoints.move('bsc', 'bnb', null), 0)
    t.equal(keys.find(theirs.endpoint.apiKey)?.endpoint.network, 'bnb')
  })

  t.test(`${name}: the 101st endpoint is refused; inactive ones count, removed ones do not`, async t => {
    const ports = await make(t)
    const { endpoints } = ports
    const { endpoint } = await withEndpoint(ports)
    const { accountId } = endpoint
    const create = () => endpoints.create({ accountId, network: 'bsc' })
    const results = await Promise.all(Array.from({ length: 200 }, create))
    t.equal(results.filter(result => result === 'limit_reached').length, 101)
    t.equal(await endpoints.count(accountId), 100)
    const ids = (await endpoints.list(accountId)).map(({ id }) => id)
    const made = results.flatMap(result => (typeof result === 'string' ? [] : [result.id]))
    t.strictSame(ids, [endpoint.id, ...made])

    await endpoints.change(accountId, endpoint.id, { status: 'inactive' })
    t.equal(await create(), 'limit_reached')
    await endpoints.remove(accountId, endpoint.id)
    t.type(await create(), 'object')
    t.equal(await create(), 'limit_reached')
  })
}
