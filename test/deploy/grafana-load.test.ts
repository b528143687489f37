/** Whether each panel of the dashboard for operators has something to draw, from what Prometheus scrapes of a gateway with traffic. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { Child, cleanEnvironment } from '../support/child.ts'
import { allCapabilities } from '../support/config-files.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { error, result } from '../support/node-replies.ts'
import { root } from '../support/paths.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const skip =
  spawnSync('prometheus', ['--version']).status === 0
    ? false
    : 'prometheus was not found: put it on the PATH (Debian: apt-get install prometheus)'

interface Panel {
  readonly type: string
  readonly title: string
  readonly targets?: readonly { readonly expr: string }[]
}
interface Variable {
  readonly name: string
  readonly query: string | { readonly query: string }
}
const file = join(root, 'deploy/grafana/dashboards/tollgate.json')
const dashboard = JSON.parse(readFileSync(file, 'utf8')) as {
  readonly panels: readonly Panel[]
  readonly templating: { readonly list: readonly Variable[] }
  readonly annotations: { readonly list: readonly { readonly expr: string }[] }
}
const panels = dashboard.panels.filter(({ type }) => type !== 'row')

t.test('Grafana finds the dashboard where compose.yaml puts it', t => {
  const text = (path: string): string => readFileSync(join(root, path), 'utf8')
  const { providers } = parse(text('deploy/grafana/provisioning/dashboards/tollgate.yaml'))
  const { services } = parse(text('compose.yaml'))
  t.ok(services.grafana.volumes.includes(`./deploy/grafana/dashboards:${providers[0].options.path}:ro`))
  t.end()
})

t.test('every query of the dashboard returns data from a real scrape', { skip }, async t => {
  const chain = new ScriptedChain()
  const node = await startSocketNode(t, { chainId: 1001, chain })
  node.on('eth_gasPrice', result('"0x1"')).on('web3_sha3', result('"0x1"'))
  node.on('eth_call', error('{"code":3,"message":"execution reverted"}'))
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl, capabilities: allCapabilities },
    ],
    gateway: { workers: 2, cache: {} },
  })
  const access = await createAccess(gateway, 'paid', 'alpha')
  const client = await openClient(t, access)
  await client.subscribe('eth_subscribe', ['newHeads'])

  const dir = await tempDir(t)
  const listen = `127.0.0.1:${await freePort()}`
  await writeFile(
    join(dir, 'prometheus.yml'),
    JSON.stringify({
      global: { scrape_interval: '500ms' },
      scrape_configs: [
        { job_name: 'tollgate', static_configs: [{ targets: [new URL(gateway.adminUrl).host] }] },
      ],
    }),
  )
  const prometheus = new Child(
    'prometheus',
    ['--config.file=prometheus.yml', '--storage.tsdb.path=data', `--web.listen-address=${listen}`],
    cleanEnvironment(),
    dir,
  )
  t.teardown(() => prometheus.stop('SIGKILL'))

  const ask = async (path: string, query: Readonly<Record<string, string>>): Promise<any> => {
    const { status, text } = await get(
      `http://${listen}/api/v1/${path}?${new URLSearchParams(query).toString()}`,
    )
    t.equal(status, 200, `${Object.values(query).join()}: ${status === 200 ? 'valid' : text}`)
    return JSON.parse(text).data
  }
  const calls = async (): Promise<unknown> => {
    chain.mine()
    // Equal calls of one connection come to one worker.
    await Promise.all([1, 2].map(() => client.call('eth_gasPrice', [])))
    await access.call('web3_sha3', ['0x00'])
    await access.call('eth_call', [{ to: `0x${'1'.repeat(40)}` }, 'latest'])
    await access.call('eth_chainId')
    await access.post(message('no_such_method'))
    return (await get(`http://${listen}/-/ready`).catch(() => null))?.status === 200
      ? (await ask('query', { query: 'rate(tollgate_ws_notifications_total[1m]) > 0' })).result[0]
      : undefined
  }
  await until('Prometheus has seen the notifications grow', calls, 60_000)

  const values: Readonly<Record<string, string>> = {
    instance: '.*',
    network: '.*',
    __rate_interval: '1m',
    __interval: '1m',
  }
  const filled = (expr: string): string =>
    expr.replace(/\$(\w+)/g, (_, name: string) => {
      t.ok(name in values, `$${name} is a variable of the dashboard`)
      return values[name]!
    })
  t.ok(panels.length > 25)
  for (const { title, targets = [] } of panels)
    for (const { expr } of targets) {
      const { result } = await ask('query', { query: filled(expr) })
      t.ok(
        result.some(({ value }: { value: [number, string] }) => value[1] !== 'NaN'),
        `${title} has data`,
      )
    }
  for (const { expr } of dashboard.annotations.list) await ask('query', { query: filled(expr) })
  for (const { name, query } of dashboard.templating.list) {
    const [, metric, label] =
      /^label_values\((\w+), (\w+)\)$/.exec(typeof query === 'string' ? query : query.query) ?? []
    if (metric === undefined) continue
    const found = await ask(`label/${label!}/values`, { 'match[]': metric })
    t.ok(found.length > 0, `${name} has a value to choose`)
  }
})
