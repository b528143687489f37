/** Gateways with one PostgreSQL: what one writes all serve, sockets included, and while it is away they serve what they know. */
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Access } from '../support/access.ts'
import { run } from '../support/cli.ts'
import { writeConfig } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { FLEET_ENV as ENV } from '../support/fleet.ts'
import type { Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { metric } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { noServers, startPostgres } from '../support/servers.ts'
import { apiOf, at, becomes, makeAccess, reasonOf, SOON } from '../support/shared-accounts.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const node = await startSocketNode(t, { chainId: 1001, chain: new ScriptedChain() })
node.on('eth_gasPrice', result('"0x1"'))

const configOf = (url: string, workers: number, more: object = {}) => ({
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: fewMethods,
  plans: {
    wide: { tiers: ['any'], ws: { connections: 10, subscriptions: 10 } },
    narrow: { tiers: ['any'], ws: { connections: 1, subscriptions: 10 } },
  },
  gateway: {
    workers,
    timeouts: { drain: '2s', drainIdle: '1s' },
    postgres: { url, timeout: '1500ms', ...more },
  },
})

t.test('two machines with two workers each', { skip: noServers, timeout: 180_000 }, async t => {
  const server = await startPostgres(t)
  const start = () => startGateway(t, configOf(server.url, 2), { env: ENV })
  const a = await start()
  const b = await start()

  t.test('a key that is made on one works on the other, until it is deleted there', async t => {
    const access = await makeAccess(a, 'wide')
    await becomes(at(access, b), 'served')
    await becomes(access, 'served')
    const other = await at(access, b).another('alpha')
    t.equal(await reasonOf(other), 'served', 'at once where it was made')
    await becomes(at(other, a), 'served')
    await access.managed('service_deleteEndpoint', [{ endpointId: other.endpointId }])
    await becomes(at(other, a), 'invalid_key')
    await becomes(other, 'invalid_key')
    t.equal((await at(access, b).managed('service_listEndpoints')).total, 1)
    for (const { adminUrl } of [a, b]) {
      const age = /tollgate_accounts_age_seconds ([\d.]+)/.exec((await get(`${adminUrl}/metrics`)).text)
      t.ok(Number(age?.[1]) < 10)
    }
  })

  t.test('a smaller plan and a suspension close sockets on both', async t => {
    const access = await makeAccess(a, 'wide')
    await becomes(at(access, b), 'served')
    const open = (gateway: Gateway) =>
      Promise.all(Array.from({ length: 3 }, () => openClient(t, at(access, gateway))))
    const clients = { a: await open(a), b: await open(b) }
    t.equal((await run(['account', 'set-plan', access.accountId, 'narrow', '--config', b.dir], ENV)).code, 0)
    for (const own of [clients.a, clients.b])
      await until(
        'those beyond the plan are closed',
        async () => Promise.resolve(own.filter(({ over }) => over !== undefined).length >= 1),
        SOON,
      )
    t.equal((await run(['account', 'suspend', access.accountId, '--config', a.dir], ENV)).code, 0)
    for (const client of [...clients.a, ...clients.b]) {
      const { code } = await client.closedBy('the suspension', SOON)
      t.equal(code, 1008)
    }
    await becomes(at(access, b), 'account_suspended')
    const { stdout } = await run(['audit', '--target', access.accountId, '--config', b.dir, '--json'], ENV)
    t.match(stdout, /account.suspended/)
  })

  t.test('a worker and a keeper that are killed come back to the same accounts', async () => {
    const access = await makeAccess(a, 'wide')
    await becomes(at(access, b), 'served')
    const { workers } = await b.status()
    for (const { pid } of workers) process.kill(pid, 'SIGKILL')
    await until(
      'it is served again',
      async () => (await reasonOf(at(access, b)).catch(() => '')) === 'served',
      30_000,
    )
    await access.managed('service_updateEndpoint', [{ endpointId: access.endpointId, status: 'inactive' }])
    await becomes(at(access, b), 'endpoint_inactive')
  })
})

t.test('while PostgreSQL is away', { skip: noServers, timeout: 180_000 }, async t => {
  const server = await startPostgres(t)
  const gateway = await startGateway(t, configOf(server.url, 1), { env: ENV })
  const access = await makeAccess(gateway, 'wide')
  await becomes(access, 'served')
  const api = await apiOf(gateway)

  // Calls go on, one after the other, until they are asked what became of them.
  const load = { isOver: false, failed: [] as string[], calls: 0 }
  const loading = (async () => {
    while (!load.isOver) {
      const reason = await reasonOf(access)
      load.calls += 1
      if (reason !== 'served') load.failed.push(reason)
      await pause(5)
    }
  })()

  const signal = (name: NodeJS.Signals): Promise<void> => {
    server.signal(name)
    return Promise.resolve()
  }
  for (const [how, away, back] of [
    ['hangs', () => signal('SIGSTOP'), () => signal('SIGCONT')],
    ['is killed', () => server.kill(), () => server.start()],
  ] as const)
    await t.test(
      `it ${how}: calls go on, changes are refused in time, and all is right after its return`,
      async t => {
        await away()
        const begin = performance.now()
        const [created, posted, command] = await Promise.all([
          access.post(
            JSON.stringify({
              jsonrpc: '2.0',
              id: 1,
              method: 'service_createEndpoint',
              params: [{ chain: 'alpha' }],
            }),
          ),
          api.call('POST', '/v1/accounts', { name: 'other', plan: 'wide' }),
          run(['account', 'suspend', access.accountId, '--config', gateway.dir], ENV),
        ])
        t.ok(performance.now() - begin < 10_000, `${performance.now() - begin} ms`)
        t.equal(created.status, 503)
        t.match(JSON.parse(created.text), { error: { code: -32603, data: { reason: 'store_unavailable' } } })
        t.match(posted, { status: 503, body: { reason: 'store_unavailable', status: 503 } })
        t.equal(command.code, 1)
        t.match(command.stderr, /tollgate: PostgreSQL cannot be reached/)
        // Slower than the ten management calls a second that an account has.
        const sometimes = async <T>(probe: () => Promise<T>): Promise<T> => {
          await pause(150)
          return probe()
        }
        await until(
          'what is shown is called stale',
          () => sometimes(async () => (await access.managed('service_account')).stale === true),
          20_000,
        )
        t.equal((await access.managed('service_listEndpoints')).stale, true)
        t.equal((await access.managed('service_usage', [{ by: 'hour' }])).stale, true)
        t.ok((await metric(gateway, 'tollgate_accounts_age_seconds')) > 5)
        t.equal((await get(`${gateway.adminUrl}/readyz`)).status, 200)
        await back()
        await until(
          'it can be changed again',
          () =>
            sometimes(
              async () =>
                (await access.manage('service_createEndpoint', [{ chain: 'alpha' }])).result !== undefined,
            ),
          20_000,
        )
        await until(
          'what is shown is new',
          () => sometimes(async () => (await access.managed('service_account')).stale === undefined),
          20_000,
        )
      },
    )
  load.isOver = true
  await loading
  t.strictSame(load.failed, [])
  t.ok(load.calls > 100, `${load.calls} calls`)

  await t.test('a restart serves known keys, and none once they are too old', async t => {
    await server.kill()
    await gateway.stop()
    await gateway.start()
    t.equal(await reasonOf(access), 'served')
    t.equal(await reasonOf(new Access(gateway, 'alpha', `${access.key.slice(0, -1)}x`)), 'invalid_key')
    await writeConfig(gateway.dir, configOf(server.url, 1, { accountsMaxAge: '1s' }))
    t.equal((await run(['reload', '--config', gateway.dir], ENV)).code, 0)
    await becomes(access, 'store_unavailable')
    const unknown = new Access(gateway, 'alpha', `${access.key.slice(0, -1)}x`)
    const reasons = new Set<string>()
    for (let n = 0; n < 200; n += 1) reasons.add(await reasonOf(unknown))
    t.strictSame([...reasons], ['store_unavailable'], 'and never too_many_bad_keys')
    t.match(await get(`${gateway.adminUrl}/readyz`), { status: 503, text: /store_unavailable/ })
    await server.start()
    await becomes(access, 'served')
    // A second is about as long as from one pull to the next.
    await until('it is ready', async () => (await get(`${gateway.adminUrl}/readyz`)).status === 200, SOON)
  })
})
