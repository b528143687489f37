import { randomBytes } from 'node:crypto'
import t from 'tap'
import pg from 'pg'
import { run } from '../support/cli.ts'
import { writeConfig } from '../support/config-files.ts'
import { FLEET_ENV } from '../support/fleet.ts'
import { freePort } from '../support/free-port.ts'
import { prepareGateway } from '../support/gateway.ts'
import { noServers, startPostgres, startRedis } from '../support/servers.ts'
import { tempDir } from '../support/temp-dir.ts'

/** A few methods, for which nothing is missing. */
const METHODS = 'families: { evm: { eth_chainId: { answer: chainId } } }\n'

t.test(
  'bug: check --data said ok of a PostgreSQL that does not let the gateway in, or not do its work',
  { skip: noServers },
  async t => {
    const server = await startPostgres(t)
    const redis = await startRedis(t)
    const admin = new pg.Client(server.url)
    await admin.connect()
    t.teardown(() => admin.end())
    const dir = await tempDir(t)
    const configOf = (url: string) => ({
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
      methods: METHODS,
      gateway: { postgres: { url }, redis: { url: redis.url } },
    })
    const check = async (url: string) => {
      await writeConfig(dir, configOf(url))
      const { code, stdout } = await run(['check', '--data', '--json', '--config', dir], FLEET_ENV)
      const { problems } = JSON.parse(stdout) as { problems: Record<string, string>[] }
      const found = problems.map(({ file, path, severity, message }) =>
        [file, path, severity, message].join(' '),
      )
      return { code, found }
    }
    const told = (message: string) => ({
      code: 1,
      found: [`gateway.yaml postgres.url error ${message}`],
    })
    const as = (user: string) => server.url.replace('tollgate@', `${user}@`)

    t.strictSame(await check(server.url), { code: 0, found: [] }, 'one that is empty')
    t.strictSame(
      await check(as('nobody')),
      told('PostgreSQL cannot be reached: role "nobody" does not exist'),
    )
    t.strictSame(
      await check(server.url.replace(/postgres$/, 'missing')),
      told('PostgreSQL cannot be reached: database "missing" does not exist'),
    )
    const away = `127.0.0.1:${await freePort()}`
    t.strictSame(
      await check(`postgres://tollgate@${away}/postgres`),
      told(`PostgreSQL cannot be reached: connect ECONNREFUSED ${away}`),
    )
    await admin.query('CREATE ROLE "Weak" LOGIN')
    const lacks = (what: string) => told(`PostgreSQL user "Weak" lacks rights: it needs ${what}`)
    t.strictSame(
      await check(as('Weak')),
      lacks('CREATE on database postgres, which has no schema tollgate'),
      'that cannot make the tables',
    )

    await writeConfig(dir, configOf(server.url))
    t.match(await run(['migrate', '--config', dir], FLEET_ENV), { code: 0 })
    t.strictSame(await check(server.url), { code: 0, found: [] }, 'one with tables')
    t.strictSame(await check(as('Weak')), lacks('USAGE and CREATE on schema tollgate'))
    await admin.query('GRANT USAGE, CREATE ON SCHEMA tollgate TO "Weak"')
    t.strictSame(
      await check(as('Weak')),
      lacks('SELECT, INSERT, UPDATE and DELETE on table tollgate.account'),
    )
    await admin.query('GRANT SELECT ON ALL TABLES IN SCHEMA tollgate TO "Weak"')
    t.strictSame(
      await check(as('Weak')),
      lacks('SELECT, INSERT, UPDATE and DELETE on table tollgate.account'),
      'that can only read',
    )
    await admin.query('GRANT ALL ON ALL TABLES IN SCHEMA tollgate TO "Weak"')
    t.strictSame(await check(as('Weak')), lacks('to own table tollgate.refusal'))
    await admin.query('GRANT tollgate TO "Weak"')
    t.strictSame(await check(as('Weak')), { code: 0, found: [] }, 'a member of the role that owns all of it')
    await admin.query('UPDATE tollgate.version SET version = 1000')
    const { code, found } = await check(server.url)
    t.equal(code, 1)
    t.match(found, [/the tables in PostgreSQL are of a newer Tollgate \(version 1000, this one uses \d+\)/])
  },
)

t.test(
  'bug: check --data said ok of accounts that PostgreSQL does not know, with which no gateway starts',
  { skip: noServers },
  async t => {
    const server = await startPostgres(t)
    const redis = await startRedis(t)
    const dir = await tempDir(t)
    const config = {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
      methods: METHODS,
    }
    await writeConfig(dir, config)
    const make = ['account', 'create', 'acme', '--plan', 'free', '--init', '--config', dir]
    t.match(await run(make, FLEET_ENV), { code: 0 })
    const gateway = { postgres: { url: server.url }, redis: { url: redis.url } }
    await writeConfig(dir, { ...config, gateway })
    const check = () => run(['check', '--data', '--config', dir], FLEET_ENV)
    const unknown =
      /postgres\.url: accounts\.db holds accounts that PostgreSQL does not know: "tollgate migrate/
    t.match(await check(), { code: 1, stdout: unknown }, 'an empty one')
    t.match(await run(['migrate', '--config', dir], FLEET_ENV), { code: 0 })
    t.match(await check(), { code: 1, stdout: unknown }, 'one with tables')
    t.match(await run(['migrate', '--to', 'postgres', '--config', dir], FLEET_ENV), { code: 0 })
    t.match(await check(), { code: 0, stdout: /^ok: 1 network/ })
    const checkWith = (TOLLGATE_MASTER_KEY: string) =>
      run(['check', '--data', '--config', dir], { ...FLEET_ENV, TOLLGATE_MASTER_KEY })
    t.match(
      await checkWith(randomBytes(32).toString('base64')),
      {
        code: 1,
        stdout:
          /postgres\.url: the master key does not open the accounts in PostgreSQL: all gateways share one$/m,
      },
      'bug: a wrong master key passed',
    )
    t.match(await checkWith('replace-me'), {
      code: 1,
      stdout: /dataDir: the master key in TOLLGATE_MASTER_KEY is malformed/,
    })
    t.match(await checkWith(''), { code: 1, stdout: /dataDir: with postgres the master key of all gateways/ })
  },
)

t.test(
  'of a PostgreSQL that is away a machine with a copy of the accounts is only warned',
  { skip: noServers },
  async t => {
    const server = await startPostgres(t)
    const redis = await startRedis(t)
    const gateway = await prepareGateway(
      t,
      {
        networks: { alpha: { chainId: 1001 } },
        routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
        methods: METHODS,
        gateway: { postgres: { url: server.url }, redis: { url: redis.url } },
      },
      { env: FLEET_ENV },
    )
    await gateway.start()
    const check = () => run(['check', '--data', '--config', gateway.dir], FLEET_ENV)
    t.match(await check(), { code: 0, stdout: /^ok: 1 network/ })
    await server.kill()
    const away = /postgres\.url: warning: PostgreSQL cannot be reached: connect ECONNREFUSED/
    t.match(await check(), { code: 0, stdout: away })
    await gateway.stop()
    t.match(await check(), { code: 0, stdout: away }, 'whether it runs or not')
    await server.start()
    t.match(await check(), { code: 0, stdout: /^ok: 1 network/ })
  },
)

t.test('bug: check --data said nothing of a Redis that is away', { skip: noServers }, async t => {
  const server = await startPostgres(t)
  const redis = await startRedis(t)
  const dir = await tempDir(t)
  const check = async (url: string) => {
    await writeConfig(dir, {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
      methods: METHODS,
      gateway: { postgres: { url: server.url }, redis: { url } },
    })
    return run(['check', '--data', '--config', dir], FLEET_ENV)
  }
  t.match(await check(redis.url), { code: 0, stdout: /^ok: 1 network/ })
  t.match(await check(`redis://127.0.0.1:${await freePort()}`), {
    code: 0,
    stdout:
      /^gateway\.yaml:\d+:\d+ redis\.url: warning: Redis cannot be used now: no connection: ECONNREFUSED\nok/,
  })
})
