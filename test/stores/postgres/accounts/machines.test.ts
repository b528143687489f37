/** Two machines that share accounts: what one writes the other has, and they agree whatever they do at the same time. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { KeyCache } from '../../../../src/stores/sqlite/accounts/cache.ts'
import { DatabaseSync } from '../../../../src/stores/sqlite/driver.ts'
import { Following } from '../../../../src/stores/postgres/accounts/follow.ts'
import type { PostgresConfig } from '../../../../src/config/fleet.ts'
import type { SharedAccounts } from '../../../../src/stores/postgres/accounts/open.ts'
import { startPostgresProxy } from '../../../support/postgres-proxy.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { until } from '../../../support/until.ts'
import { configOf, openMachine } from '../support/machines.ts'

type Machine = SharedAccounts & { readonly dataDir: string }

/** All rows of a replica, by table. */
function contents({ dataDir, replica }: Machine): Record<string, unknown> {
  const database = new DatabaseSync(join(dataDir, 'accounts.db'), { readOnly: true })
  const rows = replica.tables.map(({ name, key }) => [
    name,
    database.prepare(`SELECT * FROM ${name} ORDER BY ${key}`).all(),
  ])
  database.close()
  return Object.fromEntries(rows) as Record<string, unknown>
}

async function withEndpoint({ store }: Machine) {
  const { account } = await store.accounts.create({ name: 'Acme', plan: 'free' })
  const endpoint = await store.endpoints.create({ accountId: account.id, network: 'bsc' })
  if (typeof endpoint === 'string') throw new Error(endpoint)
  return { account, endpoint }
}

/** What SQLite takes and PostgreSQL does not: an id that is too long for an index. */
const tooLong = () => ({ name: 'Acme', plan: 'free', externalId: randomBytes(6_000).toString('base64url') })

t.test('two machines', { skip: noServers }, async t => {
  const server = await startPostgres(t)
  let schemas = 0
  const pair = async (t: Tap, more: Partial<PostgresConfig> = {}): Promise<[Machine, Machine]> => {
    const config = configOf(server.url, `pair_${(schemas += 1)}`, more)
    return [await openMachine(t, config), await openMachine(t, config)]
  }
  type Tap = Parameters<typeof openMachine>[0]

  t.test('of 200 endpoints that both make at once for one account exactly 100 come to be', async t => {
    const [a, b] = await pair(t)
    const { account } = await a.store.accounts.create({ name: 'Acme', plan: 'free' })
    const wish = { accountId: account.id, network: 'bsc' }
    const made = await Promise.all(
      [a, b].flatMap(({ store }) => Array.from({ length: 100 }, () => store.endpoints.create(wish))),
    )
    t.equal(made.filter(one => one === 'limit_reached').length, 100)
    const keys = made.flatMap(one => (typeof one === 'string' ? [] : [one.apiKey]))
    t.equal(new Set(keys).size, 100)
    await Promise.all([a.puller.pull(), b.puller.pull()])
    t.strictSame(contents(a), contents(b))
    for (const { store } of [a, b]) t.ok(keys.every(key => store.findByKey(key)?.account.id === account.id))
  })

  t.test('so it is where PostgreSQL takes longer for all of them than for a change', async t => {
    const timeout = 3_000
    const [a, b] = await pair(t, { timeout })
    const { account } = await a.store.accounts.create({ name: 'Acme', plan: 'free' })
    await a.postgres.query(`CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN PERFORM pg_sleep(0.6); RETURN NEW; END'`)
    await a.postgres.query(
      'CREATE TRIGGER slow BEFORE INSERT ON written FOR EACH ROW EXECUTE FUNCTION slow()',
    )
    const wish = { accountId: account.id, network: 'bsc' }
    const begin = performance.now()
    const made = await Promise.allSettled(
      [a, b].flatMap(({ store }) => Array.from({ length: 100 }, () => store.endpoints.create(wish))),
    )
    t.ok(
      performance.now() - begin > timeout,
      'bug: those behind the first seconds were refused as if it were away',
    )
    const words = made.map(one => {
      if (one.status === 'rejected') return String(one.reason)
      return typeof one.value === 'string' ? one.value : 'made'
    })
    t.strictSame(
      [words.filter(word => word === 'made').length, new Set(words)],
      [100, new Set(['made', 'limit_reached'])],
    )
  })

  t.test(
    'changes that come together are few transactions, and what one of them is refused is its own',
    async t => {
      const [a, b] = await pair(t)
      const { account } = await a.store.accounts.create({ name: 'Acme', plan: 'free' })
      const changeOf = async () =>
        (await a.postgres.query<{ change: number }>('SELECT change FROM meta'))[0]!.change
      const before = await changeOf()
      a.store.changedElsewhere()
      const wish = { accountId: account.id, network: 'bsc' }
      const words = await Promise.all([
        ...Array.from({ length: 30 }, async () => {
          const made = await a.store.endpoints.create(wish)
          if (typeof made === 'string') return made
          return a.store.findByKey(made.apiKey)?.account.id === account.id ? 'made and known' : 'made'
        }),
        a.store.endpoints.create({ accountId: 'acc_none', network: 'bsc' }),
        a.store.accounts.create({ name: 'Other', plan: 'free' }).then(({ account: { name } }) => name),
      ])
      t.strictSame(words, [...Array.from({ length: 30 }, () => 'made and known'), 'no_account', 'Other'])
      const transactions = (await changeOf()) - before
      t.ok(transactions <= 4, `${transactions} transactions`)
      t.notOk(a.store.changedElsewhere(), 'each is known to be of this process')
      // This one PostgreSQL itself refuses.
      const others = ['One', 'Two', 'Three'].map(
        async name => (await a.store.accounts.create({ name, plan: 'free' })).account.name,
      )
      await t.rejects(a.store.accounts.create(tooLong()), { code: '54000' })
      t.strictSame(await Promise.all(others), ['One', 'Two', 'Three'])
      await b.puller.pull()
      t.strictSame(contents(a), contents(b))
    },
  )

  t.test(
    'a damaged replica takes no change and takes in those of others: a key that ends ends here too',
    async t => {
      const [a, b] = await pair(t)
      const { account, endpoint } = await withEndpoint(a)
      await b.puller.pull()
      b.store.refuse(new Error('accounts.db is damaged: a page'))
      const refused = { name: 'StoreUnavailable', message: 'accounts.db is damaged: a page' }
      await t.rejects(b.store.accounts.change(account.id, { plan: 'paid' }), refused)
      const more = ['One', 'Two'].map(name => b.store.accounts.create({ name, plan: 'free' }))
      for (const one of await Promise.allSettled(more)) t.match(one, { status: 'rejected', reason: refused })
      t.match(await a.store.accounts.find(account.id), { plan: 'free' })
      await a.store.endpoints.remove(account.id, endpoint.id)
      await b.puller.pull()
      t.equal(b.store.findByKey(endpoint.apiKey), null)
      t.equal((await b.store.accounts.list()).length, 1)
    },
  )

  t.test('bug: a pull of the process that was writing had it begin again', async t => {
    const [a] = await pair(t)
    const order: string[] = []
    let end: () => void = () => undefined
    const writing = a.puller.apart(() => new Promise<void>(resolve => (end = resolve)), Infinity)
    const pulling = a.puller.pull().then(() => order.push('pulled'))
    // More than a pull takes, where nothing has changed.
    for (let n = 0; n < 5; n += 1) await a.postgres.query('SELECT 1 FROM meta')
    order.push('written')
    end()
    await Promise.all([writing, pulling])
    t.strictSame(order, ['written', 'pulled'])
  })

  t.test('everything that is written on one is the same on the other', async t => {
    const [a, b] = await pair(t)
    const { account, endpoint } = await withEndpoint(a)
    await b.puller.pull()
    await b.store.endpoints.change(account.id, endpoint.id, { perSecond: 0.1, allowedIps: ['10.0.0.0/8'] })
    const rotated = await a.store.endpoints.rotateKey(null, endpoint.id, 3_600)
    if (rotated === null || rotated === 'other_request') throw new Error('not rotated')
    const { token, secret } = await b.store.tokens.create({
      name: 'ci',
      scopes: ['accounts:read'],
      expiresAt: null,
    })
    const by = { actor: `token:${token.id}`, once: { key: 'one', request: 'r' } } as const
    const wish = { name: 'Beta', plan: 'paid', externalId: 'ext_1', email: 'b@x.io', labels: { a: 'ü' } }
    const made = await a.store.accounts.create(wish, by)
    t.strictSame(await b.store.accounts.create(wish, by), made, 'carried out once by all')
    await b.store.alerts.setWebhook(account.id, 'https://x.io/hook')
    t.ok(
      await a.store.alerts.raise(
        { type: 'quota.spent', accountId: account.id, data: {} } as never,
        true,
        'q1',
      ),
    )
    await b.store.alerts.raise({ type: 'quota.spent', accountId: account.id, data: {} } as never, true, 'q1')
    await a.puller.pull()
    await b.puller.pull()
    t.strictSame(contents(a), contents(b))
    t.strictSame(a.store.alerts.waiting(), { operator: 1, accounts: 1 })
    for (const { store } of [a, b]) {
      t.equal(store.findByKey(endpoint.apiKey)?.isOld, true)
      t.equal(store.findByKey(rotated.endpoint.apiKey)?.endpoint.perSecond, 0.1)
      t.equal(store.tokens.find(secret) !== null, true)
    }
    t.ok(await a.store.tokens.revoke(token.id))
    t.ok(await a.store.accounts.purge(account.id))
    await b.puller.pull()
    t.strictSame(contents(a), contents(b))
    t.equal(b.store.findByKey(rotated.endpoint.apiKey), null)
    t.equal(b.store.tokens.find(secret), null)
  })

  t.test('an external id passes from one account to another between two pulls', async t => {
    const [a, b] = await pair(t)
    const of = async (name: string, externalId: string) => {
      const made = await a.store.accounts.create({ name, plan: 'free', externalId }, { actor: 'cli' })
      if (typeof made === 'string') throw new Error(made)
      return made.account.id
    }
    const [first, second] = [await of('one', 'x'), await of('two', 'y')]
    await b.puller.pull()
    await a.store.accounts.change(second, { externalId: null })
    await a.store.accounts.change(first, { externalId: 'y' })
    await a.store.accounts.change(second, { externalId: 'x' })
    await b.puller.pull()
    t.strictSame(contents(a), contents(b))
    t.strictSame(
      [b.store.accounts.find(first), b.store.accounts.find(second)].map(
        one => (one as { externalId: string }).externalId,
      ),
      ['y', 'x'],
    )
  })

  t.test('a row that is removed and made again is there', async t => {
    const [a, b] = await pair(t)
    const { account } = await withEndpoint(a)
    await a.store.alerts.setWebhook(account.id, 'https://x.io/one')
    await b.puller.pull()
    await a.store.alerts.setWebhook(account.id, null)
    await a.store.alerts.setWebhook(account.id, 'https://x.io/two')
    await b.puller.pull()
    t.equal((b.store.alerts.webhook(account.id) as { url: string }).url, 'https://x.io/two')
  })

  t.test(
    'the audit trail gives no place twice, also on a machine that has never seen the entries',
    async t => {
      const [a, b] = await pair(t)
      await withEndpoint(a)
      await a.store.audit.forget(Date.now())
      await b.puller.pull()
      await b.store.accounts.create({ name: 'Beta', plan: 'free' })
      const query = { from: null, to: null, actor: null, target: null, before: null, limit: 10 }
      t.strictSame(
        (await b.store.audit.read(query)).entries.map(({ seq }) => seq),
        [3],
      )
    },
  )

  t.test('work that fails, is refused or changes nothing leaves no trace', async t => {
    const [a] = await pair(t)
    await withEndpoint(a)
    const before = { state: a.replica.state()!.change, rows: contents(a) }
    t.equal(await a.store.accounts.change('acc_none', { plan: 'x' }), null)
    t.equal(await a.store.endpoints.create({ accountId: 'acc_none', network: 'bsc' }), 'no_account')
    t.equal(await a.store.alerts.setWebhook('acc_none', 'https://x.io'), null)
    await t.rejects(a.store.accounts.create(tooLong()), { code: '54000' })
    t.strictSame({ state: a.replica.state()!.change, rows: contents(a) }, before)
    const [{ change } = { change: 0 }] = await a.postgres.query<{ change: number }>('SELECT change FROM meta')
    t.equal(change, before.state)
  })

  for (const notifies of [true, false])
    t.test(
      `a key that one makes works on the other, and not after it is deleted, ${notifies ? 'with' : 'without'} notifications`,
      async t => {
        const proxy = await startPostgresProxy(t, server.url)
        proxy.notifies = notifies
        const config = configOf(server.url, `pair_${(schemas += 1)}`)
        const [a, b] = [await openMachine(t, config), await openMachine(t, { ...config, url: proxy.url })]
        const keys = new KeyCache(b.store)
        b.onTaken(() => {
          keys.poll()
        })
        const following = new Following({
          ...b,
          away: error => t.fail(String(error)),
          back: () => undefined,
          // What is heard is not waited for.
          every: notifies ? 600_000 : 1_000,
        })
        t.teardown(() => following.close())
        await until('it hears what is written', async () => {
          const found = await a.postgres.query("SELECT 1 FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
          return found.length > 0
        })
        const { account, endpoint } = await withEndpoint(a)
        t.equal(keys.find(endpoint.apiKey.slice(0, -1) + '~'), null)
        await until('the key works', async () => Promise.resolve(keys.find(endpoint.apiKey) !== null), 5_000)
        await a.store.accounts.change(account.id, { status: 'suspended' })
        await until(
          'it is suspended',
          async () => Promise.resolve(keys.find(endpoint.apiKey)?.account.status === 'suspended'),
          5_000,
        )
        await a.store.endpoints.remove(null, endpoint.id)
        await until('it is nobody’s', async () => Promise.resolve(keys.find(endpoint.apiKey) === null), 5_000)
      },
    )

  t.test('that an endpoint was used is no change of its key', async t => {
    const [a, b] = await pair(t)
    const { endpoint } = await withEndpoint(a)
    await b.puller.pull()
    b.store.changedElsewhere()
    await a.store.recordUse([endpoint.id], 7_200)
    await b.puller.pull()
    t.notOk(b.store.changedElsewhere())
    t.equal((b.store.endpoints.find(null, endpoint.id) as { lastUsedAt: number }).lastUsedAt, 7_200)
    await a.store.endpoints.change(null, endpoint.id, { name: 'other' })
    await b.puller.pull()
    t.ok(b.store.changedElsewhere())
    t.notOk(b.store.changedElsewhere())
  })

  t.test(
    'processes of one machine that pull and write at the same time end with what PostgreSQL has',
    async t => {
      const config = configOf(server.url, `pair_${(schemas += 1)}`)
      const far = await openMachine(t, config)
      const keeper = await openMachine(t, config)
      const workers = await Promise.all(
        [1, 2].map(() => openMachine(t, config, { dataDir: keeper.dataDir, role: 'worker' })),
      )
      const { account } = await withEndpoint(far)
      await keeper.puller.pull()
      const local = [keeper, ...workers]
      let isOver = false
      const pulling = local.map(async ({ puller }) => {
        while (!isOver) await puller.pull()
      })
      const wish = { accountId: account.id, network: 'bsc' }
      await Promise.all(
        [far, ...local].map(async ({ store }, i) => {
          for (let n = 0; n < 15; n += 1) {
            const made = await store.endpoints.create({ ...wish, name: `${i} ${n}` })
            if (typeof made === 'string') throw new Error(made)
            if (n % 3 === 0) await store.endpoints.remove(null, made.id)
            else await store.endpoints.change(null, made.id, { name: `${i} ${n} again` })
          }
        }),
      )
      isOver = true
      await Promise.all(pulling)
      await Promise.all([far.puller.pull(), keeper.puller.pull()])
      t.strictSame(contents(keeper), contents(far))
      t.equal(await keeper.store.endpoints.count(account.id), 1 + 4 * 10)
      const live = await keeper.postgres.query("SELECT count(*) AS n FROM endpoint WHERE status <> 'deleted'")
      t.strictSame(live, [{ n: 41 }])
    },
  )
})
