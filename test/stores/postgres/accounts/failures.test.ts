/** What becomes of a change when PostgreSQL or the way to it is lost: it is made or not, and whoever asked for it knows which. */
import { EventEmitter, once } from 'node:events'
import t from 'tap'
import type { Test } from 'tap'
import { StoreUnavailable } from '../../../../src/ports/store-unavailable.ts'
import { startPostgresProxy } from '../../../support/postgres-proxy.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { until } from '../../../support/until.ts'
import { configOf, openMachine } from '../support/machines.ts'

/** Milliseconds that a change may take here, and what a busy machine may add. */
const TIMEOUT = 1_500
const SLACK = 2_500

t.test('a lost PostgreSQL', { skip: noServers }, async t => {
  const server = await startPostgres(t)
  let schemas = 0
  const open = async (t: Test) => {
    const proxy = await startPostgresProxy(t, server.url)
    const config = configOf(server.url, `lost_${(schemas += 1)}`, { timeout: TIMEOUT })
    const machine = await openMachine(t, { ...config, url: proxy.url })
    const other = await openMachine(t, config)
    return { proxy, machine, other, store: machine.store, config }
  }
  const names = async ({ puller, store }: Awaited<ReturnType<typeof openMachine>>) => {
    await puller.pull()
    return (await store.accounts.list()).map(({ name }) => name)
  }
  const make = (store: Awaited<ReturnType<typeof open>>['store'], name: string) =>
    store.accounts.create({ name, plan: 'free' })

  t.test('the reply to a COMMIT is lost: the change was made, and is answered as such', async t => {
    const { proxy, machine, other, store } = await open(t)
    proxy.loseNext('reply')
    const { account } = await make(store, 'one')
    t.equal(store.accounts.find(account.id) !== null, true, 'it is here in the same turn')
    t.strictSame(await names(other), ['one'])
    await make(store, 'two')
    t.strictSame(await names(machine), ['one', 'two'])
  })

  t.test('a COMMIT is lost: the change was not made, and is refused as such', async t => {
    const { proxy, machine, other, store } = await open(t)
    const changes: number[] = []
    store.onChange(() => changes.push(1))
    proxy.loseNext('commit')
    await t.rejects(make(store, 'one'), { name: 'StoreUnavailable', isUnknown: false })
    t.strictSame([await names(machine), await names(other)], [[], []])
    await make(store, 'two')
    t.strictSame(await names(other), ['two'])
    t.strictSame(changes, [])
  })

  t.test(
    'PostgreSQL is gone with the reply: whether the change was made is not known, and the replica learns it',
    async t => {
      const { proxy, machine, other, store } = await open(t)
      proxy.loseNext('reply', () => {
        proxy.isCut = true
      })
      const begin = performance.now()
      await t.rejects(make(store, 'one'), { name: 'StoreUnavailable', isUnknown: true })
      t.ok(performance.now() - begin < 2 * TIMEOUT + SLACK)
      t.strictSame(await store.accounts.list(), [])
      proxy.isCut = false
      t.strictSame([await names(machine), await names(other)], [['one'], ['one']])
    },
  )

  t.test('the connection is ended between a statement and its acknowledgement', async t => {
    const { machine, other, store } = await open(t)
    await make(store, 'one')
    const blocking = other.postgres.transaction(async query => {
      await query('SELECT 1 FROM meta FOR UPDATE')
      const waiting = make(store, 'two').then(
        () => 'made',
        (error: unknown) => error,
      )
      await until('it waits for its turn', async () => {
        const ended = await other.postgres.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE meta%'`,
        )
        return ended.length > 0
      })
      return waiting
    })
    t.match(await blocking, { name: 'StoreUnavailable', isUnknown: false })
    t.strictSame(await names(machine), ['one'])
    await make(store, 'three')
    t.strictSame(await names(other), ['one', 'three'])
  })

  t.test(
    'a gateway that stops with the lock in its hand keeps the others from writing for a few timeouts at most',
    async t => {
      const { other, store } = await open(t)
      const events = new EventEmitter()
      const [locked, goesOn] = [once(events, 'locked'), once(events, 'goes on')]
      const stopped = other.postgres.transaction(async query => {
        await query('UPDATE meta SET change = change + 1')
        events.emit('locked')
        await goesOn
      })
      stopped.catch(() => undefined)
      await locked
      await t.rejects(make(store, 'one'), StoreUnavailable)
      await until('another can write', () =>
        make(store, 'two').then(
          () => true,
          () => false,
        ),
      )
      events.emit('goes on')
      await t.rejects(stopped, StoreUnavailable)
      t.strictSame(await names(other), ['two'])
    },
  )

  t.test(
    'while PostgreSQL hangs each change is refused in its time, also those that wait for each other; then all is as it was',
    async t => {
      const { other, store } = await open(t)
      const { account } = await make(store, 'one')
      server.signal('SIGSTOP')
      const begin = performance.now()
      const refused = await Promise.allSettled([
        ...Array.from({ length: 10 }, () => make(store, 'two')),
        store.endpoints.create({ accountId: account.id, network: 'bsc' }),
        store.sessions.open(
          store.signIns.open('none') ?? {
            accountId: account.id,
            tokenHash: 'ab'.repeat(32),
            endpointId: null,
          },
          Date.now(),
        ),
      ])
      const took = performance.now() - begin
      t.equal(store.accounts.find(account.id) !== null, true, 'what is known is served')
      server.signal('SIGCONT')
      t.ok(
        refused.every(
          one => one.status === 'rejected' && one.reason instanceof StoreUnavailable && !one.reason.isUnknown,
        ),
      )
      t.ok(took < TIMEOUT + SLACK, `${took} ms`)
      await make(store, 'three')
      t.strictSame(await names(other), ['one', 'three'])
    },
  )

  t.test('a PostgreSQL that is killed is used again when it is back', async t => {
    const { machine, other, store } = await open(t)
    await make(store, 'one')
    await server.kill()
    await t.rejects(make(store, 'two'), { name: 'StoreUnavailable', isUnknown: false })
    await t.rejects(machine.puller.pull(), StoreUnavailable)
    await server.start()
    await make(store, 'three')
    t.strictSame(await names(other), ['one', 'three'])
  })

  t.test(
    'a PostgreSQL that has lost its last changes: the replica follows, whether new ones have passed those or not',
    async t => {
      for (const more of [0, 5]) {
        const { machine, other, store } = await open(t)
        const kept = (await make(store, 'kept')).account
        const changed = await store.endpoints.create({ accountId: kept.id, network: 'bsc', name: 'before' })
        if (typeof changed === 'string') throw new Error(changed)
        await other.puller.pull()
        const { change } = other.replica.state()!
        const backup = await other.postgres.query('SELECT row_to_json(e) AS row FROM endpoint e')
        await store.endpoints.change(null, changed.id, { name: 'after' })
        const lost = (await make(store, 'lost')).account
        const gone = await store.endpoints.create({ accountId: lost.id, network: 'bsc' })
        if (typeof gone === 'string') throw new Error(gone)
        t.ok(store.findByKey(gone.apiKey))
        await other.postgres.transaction(async query => {
          for (const table of ['endpoint', 'account', 'audit', 'written'])
            await query(`DELETE FROM ${table} WHERE ${table === 'written' ? 'change' : 'changed'} > $1`, [
              change,
            ])
          await query('INSERT INTO endpoint SELECT * FROM json_populate_recordset(NULL::endpoint, $1)', [
            JSON.stringify(backup.map(({ row }) => row)),
          ])
          await query('UPDATE meta SET change = $1, write = (SELECT id FROM written WHERE change = $1)', [
            change,
          ])
        })
        for (let n = 0; n < more; n += 1) await make(other.store, `new ${n}`)
        const news = Array.from({ length: more }, (_, n) => `new ${n}`)
        t.strictSame(await names(machine), ['kept', ...news])
        t.equal(store.findByKey(gone.apiKey), null)
        t.equal(store.findByKey(changed.apiKey)?.endpoint.name, 'before')
        t.ok(machine.store.changedElsewhere())
        await make(store, 'later')
        t.strictSame(await names(other), ['kept', ...news, 'later'])
      }
    },
  )

  t.test(
    'bug: an empty database in the place of ours, and one of others, emptied the replicas of all gateways',
    async t => {
      const { machine, store, config } = await open(t)
      const { schema } = config
      const { account } = await make(store, 'one')
      const made = await store.endpoints.create({ accountId: account.id, network: 'bsc' })
      if (typeof made === 'string') throw new Error(made)
      const isLeftAlone = async (): Promise<void> => {
        await t.rejects(machine.puller.pull(), StoreUnavailable)
        await t.rejects(make(store, 'refused'), StoreUnavailable)
        t.ok(store.findByKey(made.apiKey))
      }
      const query = machine.postgres.query
      await query(`ALTER SCHEMA ${schema} RENAME TO ${schema}_aside`)
      await isLeftAlone()
      const restarted = await openMachine(t, config, { dataDir: machine.dataDir })
      t.ok(restarted.store.findByKey(made.apiKey), 'a start does not make it ours')
      t.strictSame(await query('SELECT 1 FROM pg_namespace WHERE nspname = $1', [schema]), [])
      const fresh = await openMachine(t, config)
      await isLeftAlone()
      await make(fresh.store, 'of others')
      await isLeftAlone()
      t.strictSame(await names(fresh), ['of others'], 'nor is anything written there')
      await query(`DROP SCHEMA ${schema} CASCADE`)
      await query(`ALTER SCHEMA ${schema}_aside RENAME TO ${schema}`)
      await make(store, 'two')
      t.strictSame(await names(machine), ['one', 'two'])
    },
  )

  t.test('bug: a database that was still being restored was copied by half, for good', async t => {
    const { machine, other, store } = await open(t)
    const { account } = await make(store, 'kept')
    const made = await store.endpoints.create({ accountId: account.id, network: 'bsc' })
    if (typeof made === 'string') throw new Error(made)
    const { change } = machine.replica.state()!
    await make(store, 'lost')
    const { query } = other.postgres
    await query("DELETE FROM account WHERE name = 'lost'")
    await query('DELETE FROM audit WHERE changed > $1', [change])
    await query('UPDATE meta SET change = $1, write = (SELECT id FROM written WHERE change = $1)', [change])
    // What pg_restore brings last.
    await query('CREATE TABLE still_to_come AS SELECT * FROM endpoint')
    await query('CREATE TABLE last_to_come AS SELECT * FROM written WHERE change <= ' + String(change))
    await query('DELETE FROM endpoint')
    await query('DELETE FROM written')
    for (const each of [machine, other]) await t.rejects(each.puller.pull(), StoreUnavailable)
    t.ok(store.findByKey(made.apiKey))
    await query('INSERT INTO endpoint SELECT * FROM still_to_come')
    await query('INSERT INTO written SELECT * FROM last_to_come')
    t.strictSame([await names(machine), await names(other)], [['kept'], ['kept']])
    for (const each of [machine, other]) t.ok(each.store.findByKey(made.apiKey))
  })

  t.test('a replica that is too far behind to follow reads everything again', async t => {
    const { machine, other, store } = await open(t)
    const { account } = await make(other.store, 'one')
    await store.alerts.setWebhook(account.id, 'https://x.io').catch(() => undefined)
    await machine.puller.pull()
    await other.store.accounts.purge(account.id)
    await other.postgres.query('DELETE FROM removed')
    await other.postgres.query('DELETE FROM written WHERE change < (SELECT change FROM meta)')
    t.strictSame(await names(machine), [])
    t.equal(store.alerts.webhook(account.id), null)
  })
})
