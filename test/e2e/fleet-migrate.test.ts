/** An installation of one machine moves to PostgreSQL with `tollgate migrate`, whatever becomes of the command on the way. */
import { randomInt } from 'node:crypto'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { Access } from '../support/access.ts'
import { Child, cleanEnvironment } from '../support/child.ts'
import { run, runJson } from '../support/cli.ts'
import { amplePlans, writeConfig } from '../support/config-files.ts'
import type { ConfigOptions } from '../support/config-files.ts'
import { prepareGateway, serve, startGateway } from '../support/gateway.ts'
import { error, result } from '../support/node-replies.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers, startPostgres } from '../support/servers.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { fillUsage } from '../support/usage-rows.ts'
import { makeEndpoints } from '../stores/postgres/support/many-endpoints.ts'
import { ENV } from '../stores/postgres/support/machines.ts'

const DAY = 86_400
/** Rows of usage that are filled in: more than one transaction of a report has. */
const ROWS = 84_000
const ACCOUNT_TABLES = /^(account|endpoint|old_key|session|token|audit|once|webhook|canary)$/
const USAGE_TABLES = /^(usage|refusal|total|quota_window)$/

const node = await startNode(t, { chainId: 1001 })
node.on('web3_sha3', result('"ok"'))
node.on('eth_gasPrice', error('{"code":-32000,"message":"not now"}'))

const quota = { requests: 1_000_000, every: 'month' }
const configOf = (postgres: object | null): ConfigOptions => ({
  networks: { alpha: { chainId: 1001 }, beta: { chainId: 1001 } },
  routes: ['alpha', 'beta'].map(network => ({ id: `${network}-a`, network, http: node.url })),
  plans: { metered: { ...amplePlans['free']!, quota } },
  gateway: {
    node: { name: 'moved' },
    timeouts: { drain: '2s' },
    ...(postgres === null ? {} : { postgres }),
  },
})

const now = Math.floor(Date.now() / 1000)
const span = ['--from', String(now - 200 * DAY), '--to', String(now + DAY)]

/** What PostgreSQL holds of requests, and of refused calls. */
interface Sums {
  readonly usage: number
  readonly total: number
  readonly quota: number
  readonly refused: number
}

/** What the command line reads of a configuration. */
async function readsOf(dir: string, accountId: string): Promise<Record<string, string>> {
  const reads = [
    ['account', 'list'],
    ['account', 'show', accountId],
    ['endpoint', 'list', '--account', accountId],
    ['audit', '--limit', '1000'],
    ['usage', '--period', 'quota'],
    [
      'usage',
      '--from',
      String(now - DAY),
      ...span.slice(2),
      '--by',
      'hour',
      '--account',
      accountId,
      '--detail',
    ],
    ...['account', 'endpoint', 'network', 'method'].map(by => ['usage', ...span, '--by', by]),
    ['usage', ...span, '--by', 'month', '--account', accountId],
  ]
  const found: Record<string, string> = {}
  for (const words of reads) {
    const { code, stdout, stderr } = await run([...words, '--json', '--config', dir], ENV)
    if (code !== 0) throw new Error(`${words.join(' ')}: ${stderr}`)
    found[words.join(' ')] = stdout
  }
  return found
}

/** What a gateway answers to the owner of an account. */
async function answersTo(access: Access): Promise<Record<'account' | 'endpoints' | 'hours' | 'days', any>> {
  const usage = (query: object) => access.managed('service_usage', [query])
  return {
    account: await access.managed('service_account'),
    endpoints: await access.managed('service_listEndpoints'),
    hours: await usage({ by: 'hour', from: now - 4 * 3600, to: now + DAY }),
    days: await usage({ by: 'day', from: now - 20 * DAY, to: now + DAY, groupBy: ['method'] }),
  }
}

t.test(
  'an installation of one machine moves to PostgreSQL',
  { skip: noServers, timeout: 240_000 },
  async t => {
    const server = await startPostgres(t)
    const query = async (sql: string, schema = 'tollgate'): Promise<any[]> => {
      const options = `-c search_path=${schema}`
      const client = new pg.Client({ connectionString: server.url, options })
      await client.connect()
      try {
        return (await client.query(sql)).rows
      } finally {
        await client.end()
      }
    }
    /** What each table holds; `without` are columns that do not count. */
    const digest = async (
      tables = /./,
      without: readonly string[] = [],
      schema = 'tollgate',
    ): Promise<Record<string, string>> => {
      const names = await query(
        `SELECT relname AS name FROM pg_class WHERE relnamespace = '${schema}'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
      )
      const found: Record<string, string> = {}
      for (const { name } of names.filter(({ name }) => tables.test(name))) {
        const columns = `ARRAY[${without.map(column => `'${column}'`).join(', ')}]::text[]`
        const [row] = await query(
          `SELECT count(*) || ' ' || coalesce(md5(string_agg(r, ',' ORDER BY r)), '') AS is FROM (SELECT (to_jsonb(t) - ${columns})::text AS r FROM ${name} AS t) AS rows`,
          schema,
        )
        found[name] = row.is
      }
      return found
    }
    /** Of usage, hours may become days at any time. */
    const byDay = () =>
      query(`SELECT count(*) || ' ' || md5(string_agg(r, ',' ORDER BY r)) AS is FROM (
        SELECT (hour / 86400, account, endpoint, network, method, sum(calls), sum(requests), sum(errors), sum(refusals))::text AS r
          FROM usage GROUP BY hour / 86400, account, endpoint, network, method
        UNION ALL SELECT (hour / 86400, account, endpoint, method, reason, sum(count))::text
          FROM refusal GROUP BY hour / 86400, account, endpoint, method, reason) AS rows`)
    const sums = async (): Promise<Sums> => {
      const [row] = await query(`SELECT (SELECT sum(requests) FROM usage)::int AS usage,
        (SELECT coalesce(sum(requests), 0) FROM total)::int AS total,
        (SELECT coalesce(sum(requests), 0) FROM quota_window)::int AS quota, (SELECT sum(count) FROM refusal)::int AS refused`)
      return row as Sums
    }

    // An installation with some of everything, of which the last calls lie in the journal of a killed process.
    const gateway = await prepareGateway(t, configOf(null), { env: ENV })
    const { dir } = gateway
    const dataDir = join(dir, 'data')
    const keys = await makeEndpoints(dataDir, 500)
    const made = ['account', 'create', 'acme', '--plan', 'metered', '--chain', 'alpha']
    const { accountId, endpoint } = await runJson(dir, made, ENV)
    await gateway.start()
    const access = new Access(gateway, 'alpha', endpoint.apiKey, endpoint.endpointId, accountId)
    const other = await access.another('beta')
    await gateway.stop()
    const endpointIds = Array.from({ length: 29 }, (_, i) => `ep_old_${i}`)
    const own = [endpoint.endpointId as string, ...endpointIds.map(id => `${id}_own`)]
    // Some of it is so old that the gateway makes days of its hours, as far as it comes.
    const old = { methods: 5, hours: 160, until: now - 85 * DAY }
    fillUsage(dataDir, [
      { accountId: 'acc_other', endpointIds: [...endpointIds, 'ep_old_last'], ...old },
      { accountId, endpointIds: own, methods: 5, hours: 400, until: now },
    ])
    await gateway.start()
    for (let i = 0; i < 20; i += 1) await access.call('web3_sha3', ['0x00'])
    for (let i = 0; i < 5; i += 1) await other.call('eth_gasPrice')
    await access.call('debug_traceBlockByNumber', ['0x1'])
    await until('the refusal is in the ledger', async () => {
      const { rows } = await access.managed('service_usage', [{ by: 'hour', from: now - 3600 }])
      return (rows as { refusals: number }[]).some(({ refusals }) => refusals === 1)
    })
    const migrateWords = ['migrate', '--to', 'postgres', '--config', dir]
    await writeConfig(dir, configOf({ url: server.url }))

    await t.test('while a gateway runs nothing is taken', async t => {
      const { code, stdout, stderr } = await run(migrateWords, ENV)
      t.same({ code, stdout }, { code: 1, stdout: '' })
      t.equal(stderr, `tollgate: a gateway serves from ${dataDir}: stop it first\n`)
      t.strictSame(await query("SELECT 1 FROM pg_namespace WHERE nspname = 'tollgate'"), [])
    })

    const served = await answersTo(access)
    await gateway.kill9()
    await writeConfig(dir, configOf(null))
    const before = await readsOf(dir, accountId)
    await writeConfig(dir, configOf({ url: server.url }))
    const once = await tempDir(t)
    await writeConfig(once, configOf({ url: server.url, schema: 'once' }))
    await cp(dataDir, join(once, 'data'), { recursive: true })

    const start = (): Child => new Child(nodeFile, [mainFile, ...migrateWords], cleanEnvironment(ENV))

    await t.test('in the middle of it no gateway starts there, and what was sent is a part', async t => {
      t.equal((await run(['migrate', '--config', dir], ENV)).code, 0)
      const locker = new pg.Client({ connectionString: server.url, options: '-c search_path=tollgate' })
      await locker.connect()
      await locker.query('BEGIN; LOCK TABLE total IN ACCESS EXCLUSIVE MODE')
      const child = start()
      await until(
        'it waits',
        async () => ((await query('SELECT count(*)::int AS rows FROM usage'))[0].rows as number) > 0,
        30_000,
      )
      const refused = serve(dir, cleanEnvironment(ENV))
      t.equal((await refused.exited).code, 1)
      t.equal(refused.stderr, `tollgate: another tollgate process is using ${dataDir}\n`)
      await child.stop('SIGKILL')
      await locker.end()
      t.strictSame(await query('SELECT name, rev::int FROM node'), [{ name: 'moved', rev: 0 }])
      const { usage, total } = await sums()
      t.ok(usage < ROWS && total === 0, `${usage} of usage, ${total} of totals`)
    })

    await t.test('killed at any moment and run again, it is as if it had run once', async t => {
      let kills = 0
      for (let most = 400; ; most *= 2) {
        const child = start()
        const after = randomInt(Math.round(most))
        if (await Promise.race([child.exited.then(() => true), pause(after, false)])) {
          t.strictSame((await child.exited).code, 0, child.stderr)
          break
        }
        await child.stop('SIGKILL')
        kills += 1
      }
      t.comment(`killed ${kills} times`)
      const whole = await runJson(once, ['migrate', '--to', 'postgres'], ENV)
      t.match(whole.taken, [
        { what: 'accounts', isCopy: false },
        { what: 'usage', isCopy: false },
      ])
      for (const { rows, written } of whole.taken)
        t.ok(rows >= written && written > 500, `${written} of ${rows}`)
      const own = ['changed', 'rev', 'node', 'key']
      t.strictSame(
        await digest(ACCOUNT_TABLES, own.slice(0, 1)),
        await digest(ACCOUNT_TABLES, own.slice(0, 1), 'once'),
      )
      t.strictSame(
        await digest(USAGE_TABLES, own.slice(1, 3)),
        await digest(USAGE_TABLES, own.slice(1, 3), 'once'),
      )
    })

    const moved = await sums()
    t.match(moved, { usage: ROWS + 25, total: ROWS + 25 })

    await t.test('a second time changes nothing', async t => {
      const then = await digest()
      const again = await runJson(dir, ['migrate', '--to', 'postgres'], ENV)
      t.match(again.taken, [
        { what: 'accounts', written: 0, isCopy: false },
        { what: 'usage', written: 0, isCopy: false },
      ])
      t.strictSame(await digest(), then)
      const { stdout } = await run(migrateWords, ENV)
      t.match(stdout, /accounts: \d+ rows compared, 0 written\nusage: \d+ rows compared, 0 written\n$/)
    })

    const empty = await tempDir(t)
    await writeConfig(empty, configOf({ url: server.url }))

    await t.test(
      'every read of the command line says the same, on it and on a machine that has nothing',
      async t => {
        for (const where of [dir, empty]) {
          const reads = await readsOf(where, accountId)
          for (const [words, text] of Object.entries(before)) t.equal(reads[words], text, words)
        }
      },
    )

    await t.test('the gateway goes on there, another joins, and nothing is counted twice', async t => {
      const kept = async () => [await byDay(), await digest(/^(total|quota_window)$/, ['rev', 'node'])]
      const usage = await kept()
      await gateway.start()
      const second = await startGateway(t, configOf({ url: server.url, spool: '200ms' }), { env: ENV })
      await until('both report', async () => (await query('SELECT 1 FROM node')).length === 2)
      t.strictSame(await kept(), usage, 'it sends nothing again')
      const elsewhere = new Access(second, 'alpha', access.key, access.endpointId, accountId)
      t.same(await answersTo(access), served)
      // Without Redis what a machine says of a quota is its own part.
      t.match(await answersTo(elsewhere), { ...served, account: { endpoints: served.account.endpoints } })
      const [id, key] = [...keys][250]!
      t.match(await runJson(empty, ['find', key], ENV), { endpoint: { endpointId: id } })
      await access.call('web3_sha3', ['0x00'])
      await elsewhere.call('web3_sha3', ['0x00'])
      await until('both calls are there', async () => (await sums()).usage >= moved.usage + 2)
      const { usage: all, total, quota: used } = await sums()
      t.strictSame([all, total, used], [moved.usage + 2, moved.total + 2, moved.quota + 2])
      t.match(await run(migrateWords, ENV), { code: 1, stderr: /a gateway serves from/ })
      await gateway.stop()
      t.match((await runJson(dir, ['migrate', '--to', 'postgres'], ENV)).taken, [
        { what: 'accounts', isCopy: true },
        { what: 'usage', written: 0 },
      ])
      t.equal((await sums()).usage, moved.usage + 2)
    })
  },
)
