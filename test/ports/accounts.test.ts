/** What every implementation of the ports Accounts, Endpoints, Keys, SignIns, Audit and Tokens keeps to: on SQLite, on PostgreSQL, and a plain one in memory. */
import t from 'tap'
import type { Test } from 'tap'
import { KeyCache } from '../../src/stores/sqlite/accounts/cache.ts'
import {
  isWellFormed,
  isWellFormedToken,
  mintKey,
  mintToken,
} from '../../src/stores/sqlite/accounts/secrets/keys.ts'
import type { AccountQuery, AccountRecord } from '../../src/ports/accounts.ts'
import type { AuditQuery, Author } from '../../src/ports/audit.ts'
import type { Endpoint, EndpointWithKey } from '../../src/ports/endpoints.ts'
import type { AccountStore } from '../../src/stores/sqlite/accounts/store.ts'
import { openStore } from '../stores/accounts/support/open-store.ts'
import { openMachine, schemasOf } from '../stores/postgres/support/machines.ts'
import { plainAccounts, withoutKey } from '../support/plain-accounts.ts'
import type { PlainAccounts } from '../support/plain-accounts.ts'

const NOW = 1_700_000_000
const atStart = (): number => NOW

function portsOf(store: AccountStore, now: () => number): PlainAccounts {
  const { accounts, endpoints, signIns, audit, tokens } = store
  const clock = { now: () => now() * 1000, monotonic: () => performance.now() }
  return { accounts, endpoints, signIns, audit, tokens, keys: new KeyCache(store, clock) }
}

const schema = await schemasOf(t)
type Make = (t: Test, now?: () => number) => Promise<PlainAccounts>
const implementations: Readonly<Record<string, Make>> = {
  sqlite: async (t, now = atStart) => portsOf((await openStore(t, { now })).store, now),
  ...(schema && {
    postgres: async (t, now = atStart) => portsOf((await openMachine(t, schema(), { now })).store, now),
  }),
  plain: async (_, now = atStart) => Promise.resolve(plainAccounts(now)),
}

/** An account with one endpoint. */
async function withEndpoint({
  accounts,
  endpoints,
}: PlainAccounts): Promise<{ account: AccountRecord; dashboardToken: string; endpoint: EndpointWithKey }> {
  const made = await accounts.create({ name: 'Acme', plan: 'free' })
  const endpoint = await endpoints.create({ accountId: made.account.id, network: 'bsc', name: 'prod' })
  if (typeof endpoint === 'string') throw new Error(endpoint)
  return { ...made, endpoint }
}

const ALL: AuditQuery = { from: null, to: null, actor: null, target: null, before: null, limit: 1_000 }
const ANY: AccountQuery = {
  after: null,
  limit: 1_000,
  plan: null,
  status: null,
  externalId: null,
  email: null,
  label: null,
}
const token: Author = { actor: 'token:tok_1' }

for (const [name, make] of Object.entries(implementations)) {
  t.test(`${name}: an account is found by id and by name, and listed by age`, async t => {
    const { accounts } = await make(t)
    const { account, dashboardToken } = await accounts.create({ name: 'Acme', plan: 'free' })
    const second = await accounts.create({ name: 'Beta', plan: 'paid' })
    const third = await accounts.create({ name: 'Acme', plan: 'paid' })
    t.match(account.id, /^acc_/)
    const { id } = account
    const notes = { externalId: null, email: null, labels: {} }
    t.strictSame(account, { id, name: 'Acme', plan: 'free', status: 'active', createdAt: NOW, ...notes })
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

  t.test(`${name}: text that cannot be stored is written nowhere, whoever failed to check it`, async t => {
    const ports = await make(t)
    const { accounts, endpoints, tokens, audit } = ports
    const { account, endpoint } = await withEndpoint(ports)
    const { id } = account
    const before = (await audit.read(ALL)).entries.length
    const bad = 'a\u009bb'
    const writes: (() => Promise<unknown>)[] = [
      () => accounts.create({ name: bad, plan: 'free' }),
      () => accounts.create({ name: 'Beta', plan: 'free', email: bad }, token),
      () => accounts.change(id, { externalId: bad }),
      () => accounts.change(id, { labels: { team: bad } }),
      () => accounts.change(id, { labels: { [bad]: 'x' } }),
      () => endpoints.create({ accountId: id, network: 'bsc', name: bad }),
      () => endpoints.change(id, endpoint.id, { name: bad }),
      () => endpoints.change(id, endpoint.id, { allowedOrigins: ['https://a.example.org', bad] }),
      () => tokens.create({ name: bad, scopes: [], expiresAt: null }),
    ]
    for (const write of writes) await t.rejects(write, /is text that cannot be stored/)
    t.strictSame(await accounts.list(), [account])
    t.strictSame(await endpoints.list(id), [endpoint])
    t.strictSame(await tokens.list(), [])
    t.equal((await audit.read(ALL)).entries.length, before)
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
    const { apiKey, lastUsedAt, labels, ...shown } = endpoint
    t.strictSame([lastUsedAt, labels], [null, {}])
    t.ok(isWellFormed(apiKey))
    const place = { id: endpoint.id, accountId: account.id, network: 'bsc', name: 'prod' }
    const open = {
      management: true,
      allowedOrigins: null,
      allowedIps: null,
      perSecond: null,
      dailyLimit: null,
      limitedSince: 0,
      expiresAt: null,
    }
    t.strictSame(shown, { ...place, status: 'active', createdAt: NOW, ...open })
    const { id, name, plan, status, createdAt } = account
    const called = { id, name, plan, status, createdAt }
    t.strictSame(
      keys.find(apiKey),
      { account: called, endpoint: shown, until: null, isOld: false },
      'calls know what they need of it',
    )
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

  t.test(`${name}: an endpoint is made with its restrictions, in one entry of the trail`, async t => {
    const ports = await make(t)
    const { account } = await ports.accounts.create({ name: 'Restricted', plan: 'free' })
    const restrictions = {
      status: 'inactive',
      allowedOrigins: ['https://app.example.org'],
      allowedIps: ['203.0.113.7'],
      perSecond: 2,
      dailyLimit: 10,
      expiresAt: 4_000_000_000,
    } as const
    const wish = { accountId: account.id, network: 'bsc', name: 'prod', ...restrictions }
    const made = await ports.endpoints.create(wish)
    if (typeof made === 'string') throw new Error(made)
    t.match(made, { ...restrictions, management: false }, 'a key of web pages does not manage')
    t.ok(made.limitedSince > 0)
    t.strictSame(await ports.endpoints.find(account.id, made.id), made)
    const managing = await ports.endpoints.create({ ...wish, management: true })
    t.match(managing, { ...restrictions, management: true })
    const { entries } = await ports.audit.read({
      from: null,
      to: null,
      actor: null,
      target: made.id,
      before: null,
      limit: 10,
    })
    t.match(entries, [
      { action: 'endpoint.created', before: null, after: { network: 'bsc', name: 'prod', ...restrictions } },
    ])
    t.equal(entries.length, 1)
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

  t.test(
    `${name}: whether a change is permitted is decided by the endpoint as it is stored then`,
    async t => {
      const ports = await make(t)
      const { endpoints } = ports
      const { endpoint } = await withEndpoint(ports)
      const { accountId, id } = endpoint
      const set = (perSecond: number, permits?: (stored: Endpoint) => boolean) =>
        endpoints.change(accountId, id, { perSecond }, undefined, permits)
      const isSlower = (perSecond: number) => (stored: Endpoint) => (stored.perSecond ?? Infinity) > perSecond
      const replies = await Promise.all([set(100), set(9), set(99, isSlower(99)), set(8, isSlower(8))])
      t.equal(replies[2], 'denied', 'the limit of 100 that it was sent under had been lowered')
      t.match(replies[3], { perSecond: 8 })
      t.match(await endpoints.find(accountId, id), { perSecond: 8 })
    },
  )

  t.test(`${name}: a daily limit that is set where none was is another one, and in the trail`, async t => {
    const ports = await make(t)
    const { endpoint } = await withEndpoint(ports)
    const { id, limitedSince } = endpoint
    const set = async (dailyLimit: number | null) => {
      const changed = (await ports.endpoints.change(null, id, { dailyLimit })) as EndpointWithKey
      t.match(ports.keys.find(endpoint.apiKey)?.endpoint, {
        dailyLimit,
        limitedSince: changed.limitedSince,
      })
      return changed.limitedSince
    }
    t.equal(limitedSince, 0)
    t.equal(await set(10), NOW)
    t.equal(await set(20), NOW, 'raised')
    t.equal(await set(null), NOW)
    t.equal(await set(20), NOW + 1, 'within the same second')
    const [last] = (await ports.audit.read({ ...ALL, limit: 1 })).entries
    t.match(last, { action: 'endpoint.changed', before: { dailyLimit: null }, after: { dailyLimit: 20 } })
  })

  t.test(`${name}: labels are added, replaced and taken away one by one, ten at most`, async t => {
    const ports = await make(t)
    const { endpoint } = await withEndpoint(ports)
    const { id, accountId } = endpoint
    const set = (labels: Readonly<Record<string, string | null>>) =>
      ports.endpoints.change(accountId, id, { labels })
    t.match(await set({ team: 'wallet', stage: 'live' }), { labels: { team: 'wallet', stage: 'live' } })
    const changed = { ...endpoint, labels: { team: 'data', old: '' } }
    t.strictSame(await set({ stage: null, team: 'data', old: '' }), changed)
    t.strictSame(await ports.endpoints.list(accountId), [changed])
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, i) => [`l${i}`, 'x']))
    t.equal(await set(many), 'too_many_labels')
    t.strictSame(await ports.endpoints.find(accountId, id), changed)
    t.match(await set({ ...many, old: null }), { labels: { team: 'data', l8: 'x' } })
    const labels = { team: 'wallet', legacy: '' }
    const born = await ports.endpoints.create({ accountId, network: 'bsc', labels })
    t.match(born, { labels })
    t.strictSame((await ports.endpoints.list(accountId)).at(-1)?.labels, labels, 'from its first moment')
    const none = Object.fromEntries(['team', ...Object.keys(many)].map(name => [name, null]))
    t.strictSame(await set(none), endpoint)
    const [last] = (await ports.audit.read({ ...ALL, limit: 1 })).entries
    t.match(last, { action: 'endpoint.changed', before: { labels: { team: 'data' } } })
    t.strictSame(last?.after, { labels: {} })
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
    const { apiKey, lastUsedAt, labels, ...rest } = endpoint
    t.strictSame([lastUsedAt, labels], [null, {}])
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

  t.test(`${name}: what the operator notes about an account is kept, changed and found`, async t => {
    const { accounts } = await make(t)
    const notes = { externalId: 'crm-1', email: 'a@example.org', labels: { tier: 'gold', 'a.b': 'ü' } }
    const made = await accounts.create({ name: 'Acme', plan: 'free', ...notes }, token)
    if (typeof made === 'string') throw new Error(made)
    const { id } = made.account
    t.match(made.account, notes)
    t.strictSame(await accounts.find(id), made.account)
    const again = { name: 'Other', plan: 'free', externalId: 'crm-1' }
    t.equal(await accounts.create(again, token), 'external_id_taken')
    const other = await accounts.create({ name: 'Other', plan: 'paid' })
    t.equal(await accounts.change(other.account.id, { externalId: 'crm-1' }), 'external_id_taken')
    t.equal((await accounts.list()).length, 2)
    t.match(await accounts.change(id, { name: 'New', email: null, labels: { tier: 'tin', 'a.b': null } }), {
      name: 'New',
      plan: 'free',
      externalId: 'crm-1',
      email: null,
      labels: { tier: 'tin' },
    })
    const many = Array.from({ length: 64 }, (_, i) => [`n${i}`, ''] as const)
    t.equal(await accounts.change(id, { labels: Object.fromEntries(many) }), 'too_many_labels')
    await Promise.all(['x', 'y', 'z'].map(name => accounts.change(id, { labels: { [name]: '1' } })))
    t.strictSame((await accounts.find(id))?.labels, { tier: 'tin', x: '1', y: '1', z: '1' }, 'none is lost')
    const found = async (query: Partial<AccountQuery>) =>
      (await accounts.page({ ...ANY, ...query })).map(account => account.id)
    const both = [id, other.account.id]
    t.strictSame(await found({}), both)
    t.strictSame(await found({ limit: 1 }), [id])
    t.strictSame(await found({ after: id }), [other.account.id])
    t.strictSame(await found({ plan: 'paid' }), [other.account.id])
    t.strictSame(await found({ status: 'suspended' }), [])
    t.strictSame(await found({ externalId: 'crm-1' }), [id])
    t.strictSame(await found({ email: 'a@example.org' }), [], 'it was taken back')
    t.strictSame(await found({ label: ['tier', 'tin'] }), [id])
    t.strictSame(await found({ label: ['tier', 'gold'] }), [])
  })

  t.test(`${name}: a purged account leaves nothing but the ids that its usage is under`, async t => {
    const ports = await make(t)
    const { accounts, endpoints, keys, signIns, audit } = ports
    const { account, dashboardToken, endpoint } = await withEndpoint(ports)
    await accounts.change(account.id, { email: 'a@example.org', externalId: 'crm-1' })
    const removed = await endpoints.create({ accountId: account.id, network: 'bsc', name: 'private name' })
    if (typeof removed === 'string') throw new Error(removed)
    await endpoints.remove(account.id, removed.id)
    const session = signIns.open(dashboardToken)!
    const before = keys.changes
    t.equal(await accounts.purge(account.id, token), true)
    t.ok(keys.changes > before)
    t.equal(keys.find(endpoint.apiKey), null)
    t.equal(signIns.open(dashboardToken), null)
    t.equal(signIns.owner(session), null)
    t.equal(await accounts.find(account.id), null)
    t.strictSame(
      [await accounts.list(), await accounts.named('Acme'), await accounts.page(ANY)],
      [[], [], []],
    )
    for (const { id } of [endpoint, removed])
      t.match(await endpoints.label(id), { accountId: account.id, name: id, deleted: true })
    const left = JSON.stringify(await audit.read(ALL))
    for (const word of ['Acme', 'a@example.org', 'crm-1', 'prod', 'private name']) t.notMatch(left, word)
    t.match(await audit.read({ ...ALL, limit: 1 }), {
      entries: [{ action: 'account.purged', actor: 'token:tok_1' }],
    })
    t.equal(await accounts.purge(account.id), false)
    t.equal(await accounts.change(account.id, { plan: 'paid' }), null)
    t.equal(await accounts.rotateToken(account.id), null)
    t.type(await accounts.create({ name: 'Acme', plan: 'free', externalId: 'crm-1' }, token), 'object')
  })

  t.test(`${name}: the audit trail says who changed what, from what and to what`, async t => {
    const ports = await make(t)
    const { accounts, endpoints, audit } = ports
    const { account, endpoint } = await withEndpoint(ports)
    const owner: Author = { actor: `owner:${endpoint.id}` }
    await accounts.change(account.id, { plan: 'paid', status: 'suspended' }, token)
    await accounts.change(account.id, { plan: 'paid' }, token)
    await accounts.change(account.id, { status: 'active' })
    await accounts.rotateToken(account.id)
    await endpoints.change(account.id, endpoint.id, { name: 'new', allowedIps: ['10.0.0.1'] }, owner)
    await endpoints.move('bsc', 'bnb', null)
    await endpoints.remove(account.id, endpoint.id, owner)
    const version = {
      action: 'config.reloaded',
      target: 'abc',
      accountId: null,
      before: null,
      after: null,
    } as const
    await audit.record(version, 'gateway')
    const shown = (await audit.read(ALL)).entries.map(({ at, actor, action, target, before, after }) => {
      t.equal(at, NOW)
      return [actor, action, target, before, after]
    })
    const [acc, ep] = [account.id, endpoint.id]
    const none = { externalId: null, email: null, labels: {} }
    t.strictSame(shown.reverse(), [
      ['cli', 'account.created', acc, null, { name: 'Acme', plan: 'free', ...none }],
      ['cli', 'endpoint.created', ep, null, { network: 'bsc', name: 'prod' }],
      ['token:tok_1', 'account.changed', acc, { plan: 'free' }, { plan: 'paid' }],
      ['token:tok_1', 'account.suspended', acc, null, null],
      ['cli', 'account.resumed', acc, null, null],
      ['cli', 'account.token_rotated', acc, null, null],
      [
        owner.actor,
        'endpoint.changed',
        ep,
        { name: 'prod', allowedIps: null },
        { name: 'new', allowedIps: ['10.0.0.1'] },
      ],
      ['cli', 'endpoint.moved', 'bsc', { network: 'bsc' }, { network: 'bnb', endpoints: 1 }],
      [owner.actor, 'endpoint.deleted', ep, { network: 'bnb', name: 'new' }, null],
      ['gateway', 'config.reloaded', 'abc', null, null],
    ])
    t.notMatch(JSON.stringify(shown), endpoint.apiKey)
  })

  t.test(`${name}: the audit trail is read by time, actor and target, newest first, in pages`, async t => {
    const ports = await make(t)
    const { accounts, audit } = ports
    const mine = await withEndpoint(ports)
    await accounts.create({ name: 'Other', plan: 'free' }, token)
    const actions = async (query: Partial<AuditQuery>) =>
      (await audit.read({ ...ALL, ...query })).entries.map(({ action }) => action)
    t.strictSame(await actions({}), ['account.created', 'endpoint.created', 'account.created'])
    t.strictSame(await actions({ target: mine.account.id }), ['endpoint.created', 'account.created'])
    t.strictSame(await actions({ target: mine.endpoint.id }), ['endpoint.created'])
    t.strictSame(await actions({ actor: 'token:tok_1' }), ['account.created'])
    t.strictSame(await actions({ from: NOW + 1 }), [])
    t.strictSame(await actions({ to: NOW }), [])
    const first = await audit.read({ ...ALL, limit: 1 })
    t.strictSame(await actions({ before: first.next }), ['endpoint.created', 'account.created'])
    t.equal((await audit.read({ ...ALL, limit: 3 })).next, null)
    await audit.forget(NOW)
    t.equal((await actions({})).length, 3)
    await audit.forget(NOW + 1)
    t.strictSame(await actions({}), [])
  })

  t.test(`${name}: a request with a key of its own is carried out once`, async t => {
    const { accounts, endpoints, audit } = await make(t)
    const by = (key: string, request: string): Author => ({ ...token, once: { key, request } })
    const create = (by: Author) => accounts.create({ name: 'Acme', plan: 'free', externalId: 'x' }, by)
    const all = await Promise.all(Array.from({ length: 10 }, () => create(by('k1', 'a'))))
    for (const each of all) t.strictSame(each, all[0])
    t.equal((await accounts.list()).length, 1)
    t.equal((await audit.read(ALL)).entries.length, 1)
    t.equal(await create(by('k1', 'b')), 'other_request')
    t.equal(await create(by('k2', 'a')), 'external_id_taken', 'what is refused is not remembered')
    const { account } = all[0] as { account: AccountRecord }
    await accounts.change(account.id, { externalId: null })
    t.type(await create(by('k2', 'a')), 'object')

    const wish = { accountId: account.id, network: 'bsc' }
    const endpoint = await endpoints.create(wish, by('k3', 'a'))
    t.strictSame(await endpoints.create(wish, by('k3', 'a')), endpoint)
    t.equal(await endpoints.create(wish, by('k3', 'b')), 'other_request')
    t.equal(await endpoints.count(account.id), 1)
  })

  t.test(
    `${name}: a token of the admin API is found by its secret until it expires or is revoked`,
    async t => {
      const { tokens, audit } = await make(t)
      const wish = { name: 'sign-up page', scopes: ['accounts:write'], expiresAt: null } as const
      const { token: made, secret } = await tokens.create(wish)
      t.match(secret, /^tga_[0-9A-Za-z]{38}$/)
      t.strictSame(made, { id: made.id, ...wish, createdAt: NOW })
      t.strictSame(await tokens.find(secret), made)
      for (const wrong of [mintToken(), mintKey(), secret.slice(0, -1)])
        t.equal(await tokens.find(wrong), null)
      const short = await tokens.create({ ...wish, expiresAt: NOW + 1 })
      const over = await tokens.create({ ...wish, expiresAt: NOW })
      t.strictSame(await tokens.find(short.secret), short.token)
      t.equal(await tokens.find(over.secret), null)
      t.equal((await tokens.list()).length, 2)
      t.equal(await tokens.revoke(made.id), true)
      t.equal(await tokens.revoke(made.id), false)
      t.equal(await tokens.find(secret), null)
      t.strictSame(await tokens.list(), [short.token])
      const trail = (await audit.read(ALL)).entries
      t.strictSame([trail[0]?.action, trail[0]?.target], ['token.revoked', made.id])
      t.notMatch(JSON.stringify(trail), secret)
    },
  )

  t.test(`${name}: a rotated key goes on for its overlap, for calls alone`, async t => {
    const clock = { now: NOW }
    const ports = await make(t, () => clock.now)
    const { endpoints, keys, signIns, audit } = ports
    const { account, endpoint } = await withEndpoint(ports)
    const { id, apiKey: first } = endpoint
    const before = keys.changes
    const rotated = await endpoints.rotateKey(account.id, id, 60)
    if (rotated === null || typeof rotated === 'string') throw new Error('not rotated')
    const second = rotated.endpoint.apiKey
    t.strictSame(rotated, { endpoint: { ...endpoint, apiKey: second }, oldKeyExpiresAt: NOW + 60 })
    t.not(second, first)
    t.ok(keys.changes > before)
    t.match(keys.find(first), { endpoint: { id, management: false }, until: NOW + 60, isOld: true })
    t.match(keys.find(second), { endpoint: { id, management: true }, until: null, isOld: false })
    t.equal(signIns.open(first), null, 'it opens no dashboard')
    t.ok(signIns.open(second))
    t.equal(await endpoints.count(account.id), 1)

    clock.now += 59
    t.ok(keys.find(first))
    await endpoints.change(account.id, id, { status: 'inactive' })
    t.equal(keys.find(first)?.endpoint.status, 'inactive', 'a change acts on the old key, too')
    await endpoints.change(account.id, id, { status: 'active' })
    clock.now += 1
    t.equal(keys.find(first), null)
    t.ok(keys.find(second))

    const third = await endpoints.rotateKey(null, id, 0)
    t.match(third, { oldKeyExpiresAt: null })
    t.equal(keys.find(second), null, 'without an overlap it ends at once')
    t.equal(await endpoints.rotateKey('acc_other', id, 0), null)
    t.equal(await endpoints.rotateKey(account.id, 'ep_none', 0), null)
    const [entry] = (await audit.read({ ...ALL, limit: 1 })).entries
    t.match(entry, { action: 'key.rotated', target: id, after: { oldKeyExpiresAt: null } })
    t.notMatch(JSON.stringify(await audit.read(ALL)), /tg_/)
  })

  t.test(`${name}: old keys are five at most, and end with their endpoint`, async t => {
    const ports = await make(t)
    const { endpoints, keys } = ports
    const { account, endpoint } = await withEndpoint(ports)
    const all = [endpoint.apiKey]
    for (let i = 0; i < 6; i += 1) {
      const rotated = await endpoints.rotateKey(account.id, endpoint.id, 100 + i)
      if (rotated === null || typeof rotated === 'string') throw new Error('not rotated')
      all.push(rotated.endpoint.apiKey)
    }
    t.strictSame(
      all.map(key => keys.find(key) !== null),
      [false, true, true, true, true, true, true],
    )
    await endpoints.remove(account.id, endpoint.id)
    t.strictSame(
      all.filter(key => keys.find(key) !== null),
      [],
    )
  })

  t.test(`${name}: a key ends when its endpoint says so`, async t => {
    const clock = { now: NOW }
    const ports = await make(t, () => clock.now)
    const { endpoints, keys, signIns } = ports
    const { account, endpoint } = await withEndpoint(ports)
    const { id, apiKey } = endpoint
    t.match(await endpoints.change(account.id, id, { expiresAt: NOW + 10 }), { expiresAt: NOW + 10 })
    t.match(keys.find(apiKey), { until: NOW + 10 })
    clock.now += 10
    t.equal(keys.find(apiKey), null)
    t.equal(signIns.open(apiKey), null)
    await endpoints.change(account.id, id, { expiresAt: null })
    t.match(keys.find(apiKey), { until: null }, 'its owner may prolong it')
  })

  t.test(`${name}: bug: what was opened with a key outlived the time of that key`, async t => {
    const clock = { now: NOW }
    const ports = await make(t, () => clock.now)
    const { endpoints, signIns } = ports
    const { account, dashboardToken, endpoint } = await withEndpoint(ports)
    const [byKey, byToken] = [signIns.open(endpoint.apiKey)!, signIns.open(dashboardToken)!]
    await endpoints.change(account.id, endpoint.id, { expiresAt: NOW + 10 })
    clock.now += 9
    t.equal(signIns.owner(byKey)?.endpoint?.id, endpoint.id)
    clock.now += 1
    t.equal(signIns.owner(byKey), null)
    t.equal(signIns.owner(byToken)?.account.id, account.id)
  })

  t.test(`${name}: bug: an old key that is dead with its endpoint was said to go on`, async t => {
    const clock = { now: NOW }
    const ports = await make(t, () => clock.now)
    const { account, endpoint } = await withEndpoint(ports)
    const change = (expiresAt: number) => ports.endpoints.change(account.id, endpoint.id, { expiresAt })
    const rotate = () => ports.endpoints.rotateKey(account.id, endpoint.id, 60)
    await change(NOW + 10)
    t.match(await rotate(), { oldKeyExpiresAt: NOW + 10 })
    clock.now += 10
    t.match(await rotate(), { oldKeyExpiresAt: null })
    await change(NOW + 100)
    t.equal(ports.keys.find(endpoint.apiKey), null, 'and does not come back')
  })

  t.test(`${name}: a rotation with a key of its own is carried out once`, async t => {
    const ports = await make(t)
    const { account, endpoint } = await withEndpoint(ports)
    const by: Author = { ...token, once: { key: 'r', request: 'a' } }
    const rotate = () => ports.endpoints.rotateKey(account.id, endpoint.id, 60, by)
    t.strictSame(await rotate(), await rotate())
    t.equal(
      await ports.endpoints.rotateKey(account.id, endpoint.id, 60, {
        ...token,
        once: { key: 'r', request: 'b' },
      }),
      'other_request',
    )
  })
}
