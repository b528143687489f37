/** How PostgreSQL and Redis are reached comes out nowhere: not in a log, an answer, a command or a file, whatever is wrong with either. */
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import pg from 'pg'
import t from 'tap'
import { filesBelow, holdsNone, type Canaries } from '../secrets/canaries.ts'
import { Access } from '../support/access.ts'
import { run, runJson } from '../support/cli.ts'
import { writeConfig } from '../support/config-files.ts'
import type { ConfigOptions } from '../support/config-files.ts'
import { serve, startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { cleanEnvironment } from '../support/child.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers, startPostgres, startRedis } from '../support/servers.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const secrets: Canaries = {
  'the password of PostgreSQL': 'cnryflpgpass',
  'the query of its URL': 'cnryflpgquery',
  'the password of Redis': 'cnryflrdpass',
  'its other password': 'cnryflrdwrong',
}

t.test('secrets of a fleet', { skip: noServers, timeout: 120_000 }, async t => {
  const [server, cache, node] = await Promise.all([
    startPostgres(t),
    startRedis(t),
    startNode(t, { chainId: 1001 }),
  ])
  node.on('web3_sha3', result('"ok"'))
  const locked = new Redis(cache.url)
  await locked.config('SET', 'requirepass', 'cnryflrdpass')
  locked.disconnect()
  const env = {
    TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64'),
    PG_URL: `postgres://tollgate:cnryflpgpass@127.0.0.1:${server.port}/postgres?fallback_application_name=cnryflpgquery`,
    REDIS_URL: `redis://:cnryflrdpass@127.0.0.1:${cache.port}`,
  }
  const config = (postgres: object = {}, redis: object = {}): ConfigOptions => ({
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    gateway: {
      log: { level: 'debug' },
      postgres: { url: '${PG_URL}', timeout: '500ms', spool: '200ms', ...postgres },
      redis: { url: '${REDIS_URL}', ...redis },
    },
  })
  const said: string[] = []
  const gateway = await startGateway(t, config(), { env })
  const tell = async (args: readonly string[], dir = gateway.dir): Promise<number | null> => {
    const { code, stdout, stderr } = await run([...args, '--config', dir], env)
    said.push(args.join(' '), stdout, stderr)
    return code
  }
  const made = await runJson(
    gateway.dir,
    ['account', 'create', 'acme', '--plan', 'paid', '--chain', 'alpha'],
    env,
  )
  const { accountId, endpoint } = made
  const access = new Access(gateway, 'alpha', endpoint.apiKey, endpoint.endpointId, accountId)
  const call = async (): Promise<void> => {
    for (const method of ['web3_sha3', 'service_account', 'service_usage', 'service_listEndpoints'])
      said.push(JSON.stringify(await access.call(method, method === 'web3_sha3' ? ['0x00'] : [])))
  }
  const look = async (): Promise<void> => {
    for (const path of ['status', 'metrics', 'readyz', 'livez', 'served', 'whereabouts'])
      said.push((await get(`${gateway.adminUrl}/${path}`)).text)
  }
  const commands = [
    ['check'],
    ['dump'],
    ['nodes'],
    ['migrate'],
    ['migrate', '--to', 'postgres'],
    ['spool', '--dir', join(gateway.dir, 'data')],
    ['usage', '--by', 'account'],
    ['account', 'list'],
    ['account', 'suspend', 'acc_none'],
    ['audit'],
    ['explain', endpoint.apiKey, 'web3_sha3'],
    ['find', endpoint.apiKey],
  ]

  t.test('while both are there', async t => {
    await until('the key is known', async () => (await access.call('web3_sha3', ['0x00'])).result === 'ok')
    await call()
    await look()
    for (const words of commands) for (const more of [[], ['--json']]) await tell([...words, ...more])
    const copy = join(await tempDir(t), 'copy')
    t.equal(await tell(['backup', copy]), 0)
    for (const dir of [copy, join(gateway.dir, 'data')])
      for (const [name, bytes] of await filesBelow(dir)) holdsNone(t, bytes, secrets, name)
    t.match(said.join(), 'alpha-a', 'something was said')
    const { rows } = await new pg.Pool({ connectionString: server.url, max: 1, idleTimeoutMillis: 1 }).query(
      'SELECT info::text, name FROM tollgate.node',
    )
    said.push(JSON.stringify(rows))
  })

  t.test('where Redis wants another password', async t => {
    const url = `redis://:cnryflrdwrong@127.0.0.1:${cache.port}`
    const other = await startGateway(t, config({}, { url }), { env })
    await until('it is refused', () => Promise.resolve(other.printed.includes('Redis does not answer')))
    await tell(['check'], other.dir)
    await tell(['dump'], other.dir)
    await other.stop()
    said.push(other.printed)
  })

  t.test('while they are away, and back', async () => {
    await Promise.all([server.kill(), cache.kill()])
    await call()
    await until('both are missed', () =>
      Promise.resolve(
        gateway.printed.includes('cannot be reported to PostgreSQL') &&
          gateway.printed.includes('Redis does not answer'),
      ),
    )
    await look()
    for (const words of commands) await tell(words)
    await Promise.all([server.start(), cache.start()])
    // Redis has forgotten its password: what it says of the one that comes is logged.
    await until(
      'usage is reported again',
      () => Promise.resolve(gateway.printed.includes('reported to PostgreSQL again')),
      30_000,
    )
    await call()
  })

  t.test('where the configuration is wrong', async t => {
    const bad: readonly (readonly [object, object])[] = [
      [{ url: 'postgres://tollgate:cnryflpgpass@127.0.0.1:1/postgres' }, {}],
      [{ url: `postgres://tollgate:cnryflpgpass@127.0.0.1:${server.port}/nowhere` }, {}],
      [{ url: 'postgres://tollgate:cnryflpgpass@host.invalid/postgres' }, {}],
      [{ url: 'postgres://tollgate:cnryflpgpass@[/postgres' }, {}],
      [{ url: 'cnryflpgpass' }, {}],
      [{ url: `postgres://tollgate:cnryflpgpass@127.0.0.1:${server.port}/postgres?sslmode=require` }, {}],
      [{}, { url: 'redis://:cnryflrdwrong@[' }],
      [{}, { url: 'cnryflrdwrong' }],
      [{}, { url: ['redis://:cnryflrdwrong@127.0.0.1:1', 7] }],
    ]
    for (const [postgres, redis] of bad) {
      const dir = await tempDir(t)
      await writeConfig(dir, config(postgres, redis))
      for (const words of [['check'], ['dump'], ['migrate'], ['nodes'], ['account', 'list'], ['serve']])
        if (words[0] !== 'serve') await tell(words, dir)
        else if ((await run(['check', '--config', dir], env)).code !== 0) {
          const child = serve(dir, cleanEnvironment(env))
          t.equal((await child.exited).code, 1)
          said.push(child.stdout, child.stderr)
        }
    }
    const file = join(gateway.dir, 'gateway.yaml')
    const good = await readFile(file, 'utf8')
    await writeFile(file, good.replace('${PG_URL}', 'cnryflpgpass').replace('${REDIS_URL}', '"cnryflrdwrong'))
    await tell(['reload'])
    await look()
  })

  t.test('nothing of it was said', t => {
    for (const text of [...said, gateway.printed]) holdsNone(t, text, secrets, text.slice(0, 80))
    t.end()
  })
})
