/** What Prometheus makes of the metrics, and of the alert rules that ship. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { allCapabilities } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway, startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { root } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { noServers, startPostgres, startRedis } from '../support/servers.ts'
import { until } from '../support/until.ts'

const promtool = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return { status, said: stdout + stderr }
}
const isHere = spawnSync('promtool', ['--version']).status === 0
const skip = isHere
  ? false
  : 'promtool was not found: put it on the PATH (Debian: apt-get install prometheus)'
const deploy = join(root, 'deploy', 'prometheus')

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}
const { groups } = parse(readFileSync(join(deploy, 'alerts.yml'), 'utf8')) as Rules
const rules = groups.flatMap(group => group.rules)

t.test('the alert rules are valid, and each fires and keeps quiet when it should', { skip }, t => {
  t.match(promtool('check', 'rules', join(deploy, 'alerts.yml')), { status: 0 })
  t.match(promtool('check', 'config', join(deploy, 'prometheus.yml')), { status: 0 })
  t.match(promtool('test', 'rules', join(deploy, 'alerts.test.yml')), { status: 0 })
  const { tests } = parse(readFileSync(join(deploy, 'alerts.test.yml'), 'utf8')) as {
    tests: { alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[]
  }
  const outcomes = tests
    .flatMap(each => each.alert_rule_test)
    .map(each => `${each.alertname} ${each.exp_alerts.length}`)
  t.strictSame(
    outcomes.sort(),
    rules.flatMap(({ alert }) => [`${alert} 0`, `${alert} 1`]).sort(),
    'both are tested of every rule',
  )
  t.end()
})

/** Only gateways that share PostgreSQL and Redis have these. */
const OF_FLEETS = [
  'tollgate_spool_lag_seconds',
  'tollgate_spool_fenced',
  'tollgate_accounts_age_seconds',
  'tollgate_limit_store_away',
  'tollgate_clock_skew_seconds',
]

t.test(
  'a gateway with PostgreSQL and Redis has the metrics of its rules, and they lint',
  { skip: noServers },
  async t => {
    const node = await startNode(t, { chainId: 1001 })
    const [postgres, redis] = await Promise.all([startPostgres(t), startRedis(t)])
    const gateway = await prepareGateway(
      t,
      {
        networks: { alpha: { chainId: 1001 } },
        routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
        gateway: { postgres: { url: postgres.url }, redis: { url: redis.url } },
      },
      { env: { TOLLGATE_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') } },
    )
    await gateway.start()
    const text = await until('its clock is compared', async () => {
      const { text } = await get(`${gateway.adminUrl}/metrics`)
      // Its HELP is there before.
      return /^tollgate_clock_skew_seconds /m.test(text) ? text : undefined
    })
    const names = new Set(text.match(/^[a-z]\w+/gm))
    t.strictSame(
      OF_FLEETS.filter(name => !names.has(name)),
      [],
    )
    if (isHere) {
      const { stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
      // The name of that label is part of the contract.
      const known = "tollgate_config_info label names should be written in 'snake_case' not 'camelCase'\n"
      t.equal(stderr.replace(known, ''), '')
    }
  },
)

for (const workers of [1, 2])
  t.test(`${workers} workers: a scrape lints, and has every metric that a rule asks for`, async t => {
    const node = await startNode(t, { chainId: 1001 })
    const gateway = await startGateway(t, {
      networks: { alpha: { chainId: 1001, public: true } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, capabilities: allCapabilities }],
      methods: fewMethods,
      gateway: { workers },
    })
    const access = await createAccess(gateway, 'paid', 'alpha')
    for (let i = 0; i < 10; i += 1) {
      await access.call('eth_chainId')
      await access.call('eth_getBalance', ['0x0000000000000000000000000000000000000001', 'latest'])
      await access.post(message('no_such_method'))
    }
    await access.on('alpha').post('{')
    const scrape = async () => (await get(`${gateway.adminUrl}/metrics`)).text
    await until('a probe has seen a block', async () => (await scrape()).includes('tollgate_route_head{'))
    const text = await scrape()
    if (isHere) {
      const { status, stderr } = spawnSync('promtool', ['check', 'metrics'], {
        input: text,
        encoding: 'utf8',
      })
      t.strictSame([status, stderr], [0, ''])
    }
    const names = new Set(text.match(/^[a-z]\w+/gm))
    const wanted = new Set(rules.flatMap(({ expr }) => expr.match(/\b(tollgate|nodejs)_\w+/g) ?? []))
    if (workers === 1) wanted.delete('tollgate_worker_up')
    for (const name of OF_FLEETS) wanted.delete(name)
    // Of a listener with TLS (test/edge/tls.test.ts).
    wanted.delete('tollgate_tls_certificate_expiry_timestamp_seconds')
    t.strictSame(
      [...wanted].filter(name => !names.has(name)),
      [],
    )
    t.match(text, /^tollgate_build_info\{version="\d+\.\d+\.\d+"\} 1$/m)
    t.match(
      text,
      /^tollgate_call_duration_seconds_count\{network="alpha",plan="paid",transport="http",class="\w+"\} \d+$/m,
    )
    t.match(
      text,
      /^tollgate_attempt_duration_seconds_bucket\{network="alpha",route="alpha-a",le="0.01"\} \d+$/m,
    )
    const databases = [...text.matchAll(/^tollgate_database_bytes\{database="(.*)"\} (\d+)$/gm)]
    const files = workers === 1 ? ['accounts', 'journal'] : ['accounts', 'journal', 'journal-1', 'journal-2']
    t.strictSame(databases.map(([, name]) => name).sort(), files)
    t.ok(databases.every(([, , bytes]) => Number(bytes) > 0))
    t.match(text, /^tollgate_journal_backlog_rows \d+$/m)
  })
