import { existsSync, readFileSync } from 'node:fs'
import { chmod, cp, lstat, mkdir, readdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { duration } from '../../src/config/words/units.ts'
import { Child, cleanEnvironment } from '../support/child.ts'
import { run } from '../support/cli.ts'
import { findReady } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { nodeFile, root } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'

const text = (path: string): string => readFileSync(join(root, path), 'utf8')
const milliseconds = (written: string): number => duration(written)!
const drainOf = (yaml: string): number => milliseconds(parse(yaml).timeouts.drain)

/** The steps of the Dockerfile, a list for each stage. */
const stages: string[][] = []
for (const line of text('Dockerfile')
  .replace(/^#.*\n/gm, '')
  .replace(/\\\n/g, ' ')
  .split('\n')) {
  if (line.startsWith('FROM ')) stages.push([])
  if (line !== '') stages.at(-1)?.push(line.replace(/\s+/g, ' '))
}
const [build = [], final = []] = stages
/** What stands behind a word in a stage, in order. */
const steps = (stage: readonly string[], word: string): string[] =>
  stage.flatMap(step => (step.startsWith(`${word} `) ? [step.slice(word.length + 1)] : []))
/** Where each COPY of the checkout goes. */
const copies = (stage: readonly string[]): { readonly from: string[]; readonly to: string }[] =>
  steps(stage, 'COPY').flatMap(step => {
    const words = step.split(' ')
    return words[0]?.startsWith('--from') === true ? [] : [{ from: words.slice(0, -1), to: words.at(-1)! }]
  })

/** Does what the COPY lines of a stage do, in a folder. */
async function copy(stage: readonly string[], workdir: string, place: (to: string) => string): Promise<void> {
  for (const { from, to } of copies(stage))
    for (const path of from) {
      const into = to.endsWith('/') ? join(to, path) : to
      const target = to.startsWith('/') ? place(into) : join(workdir, into)
      await mkdir(dirname(target), { recursive: true })
      await cp(join(root, path), target, { recursive: true })
    }
}

t.test('what the Dockerfile copies is there, and dependencies come before sources', t => {
  t.equal(stages.length, 2)
  const all = [...copies(build), ...copies(final)]
  t.ok(all.length > 6)
  for (const path of all.flatMap(({ from }) => from)) t.ok(existsSync(join(root, path)), path)
  const install = build.findIndex(step => step.startsWith('RUN npm ci'))
  const sources = build.findIndex(step => step.includes('./src'))
  t.ok(install > 0 && install < sources)
  for (const stage of stages) t.equal(steps(stage, 'FROM')[0]?.split(' ')[0], '${NODE_IMAGE}')
  t.match(
    text('Dockerfile'),
    /^ARG NODE_IMAGE=node:2[246]\.\d+\.\d+-[a-z-]+@sha256:[0-9a-f]{64}$/m,
    'a line that is supported, by its digest',
  )
  t.same(steps(final, 'USER'), ['node'])
  t.end()
})

// `npm test` itself builds without a look at the types, so that the second core is not idle for as long as tsc takes.
t.test('its build checks the types of the program first', t => {
  t.ok(steps(build, 'RUN').some(command => command.startsWith('npm run build && ')))
  t.match(JSON.parse(text('package.json')).scripts.build, /^tsc -p tsconfig\.build\.json && /)
  t.end()
})

t.test(
  'its steps, outside of a container: what it builds serves, and writes to its volume alone',
  async t => {
    const dir = await tempDir(t)
    const [app, image] = [join(dir, 'app'), join(dir, 'image')]
    await copy(build, app, to => join(dir, to))
    await symlink(join(root, 'node_modules'), join(app, 'node_modules'))
    for (const command of steps(build, 'RUN').filter(command => !command.startsWith('npm ci'))) {
      const built = new Child('sh', ['-c', command], cleanEnvironment(), app)
      t.strictSame(
        await built.exited,
        { code: 0, signal: null },
        `${command}: ${built.stdout}${built.stderr}`,
      )
    }
    await copy(final, image, to => join(dir, to))
    for (const step of steps(final, 'COPY').filter(step => step.startsWith('--from'))) {
      const [, from = '', to = ''] = step.split(' ')
      await cp(join(app, from.replace('/app/', '')), join(image, to), {
        recursive: true,
        verbatimSymlinks: true,
      })
    }
    const [install = ''] = steps(final, 'RUN').filter(command => command.startsWith('npm install --global'))
    const here = install.replace('--global', `--global --prefix ${image} --prefer-offline`)
    const installed = new Child('sh', ['-c', here], cleanEnvironment(), image)
    t.strictSame(await installed.exited, { code: 0, signal: null }, installed.stderr)
    const files = (await readdir(join(image, 'lib'), { recursive: true })).map(name =>
      join(image, 'lib', name),
    )
    const bytes = (await Promise.all(files.map(name => lstat(name)))).reduce((sum, { size }) => sum + size, 0)
    t.comment(`the installed package has ${Math.round(bytes / 1e6)} MB`)
    t.ok(bytes < 80e6, `${bytes} bytes`)
    const [etc, data] = [join(dir, 'etc/tollgate'), join(dir, 'data')]
    await mkdir(data, { mode: 0o700 })
    await chmod(etc, 0o555)
    t.teardown(() => chmod(etc, 0o755))
    const own = steps(final, 'ENV').flatMap(step => step.split(' ').map(pair => pair.split('=', 2)))
    const env = cleanEnvironment({
      ...(Object.fromEntries(own) as Record<string, string>),
      TOLLGATE_DATA: data,
      TOLLGATE_LISTEN: '127.0.0.1:0',
      TOLLGATE_ADMIN: '127.0.0.1:0',
      TOLLGATE_PROBES: '0.0.0.0:0',
    })
    const [command = '', ...args] = JSON.parse(steps(final, 'CMD')[0]!) as string[]
    const before = (await readdir(dir, { recursive: true })).filter(path => !path.startsWith('data/'))
    const gateway = new Child(
      nodeFile,
      [join(image, 'bin', command), ...args.map(word => word.replace('/etc/tollgate', etc))],
      env,
      image,
    )
    t.teardown(() => gateway.stop('SIGKILL'))
    const { probes } = await gateway.output('ready', findReady)
    t.match(probes, /^0\.0\.0\.0:\d+$/, 'probes are answered to other machines')
    t.equal((await get(`http://${probes!}/readyz`)).status, 200)
    t.same(await gateway.stop(), { code: 0, signal: null })
    t.ok((await readdir(data)).includes('accounts.db'))
    t.same(
      (await readdir(dir, { recursive: true })).filter(path => !path.startsWith('data/')),
      before,
    )
  },
)

t.test('bug: npm ci with NODE_ENV=production ended with a stack trace', async t => {
  const dir = await tempDir(t)
  for (const name of ['package.json', 'package-lock.json', 'build/prepare.mjs'])
    await cp(join(root, name), join(dir, name))
  const env = cleanEnvironment({ NODE_ENV: 'production' })
  const installing = new Child('npm', ['ci', '--prefer-offline', '--foreground-scripts'], env, dir)
  t.strictSame(await installing.exited, { code: 0, signal: null }, installing.stderr)
  t.match(
    installing.stdout,
    /^tollgate: the packages of a build are not installed, so nothing was built; on a server/m,
  )
  t.strictSame(
    (await readdir(join(dir, 'node_modules'))).filter(name => !name.startsWith('.')).sort(),
    ['@photostructure', 'node-addon-api', 'node-gyp-build'],
    "and SQLite's driver alone was installed",
  )
})

t.test('the health check asks where probes are answered', t => {
  const [, port] = /TOLLGATE_PROBES=0\.0\.0\.0:(\d+)/.exec(steps(final, 'ENV')[0]!)!
  t.match(steps(final, 'HEALTHCHECK')[0], new RegExp(`http://127\\.0\\.0\\.1:${port}/livez`))
  t.ok(steps(final, 'EXPOSE')[0]?.split(' ').includes(port!))
  const { scrape_configs: scrapes } = parse(text('deploy/prometheus/prometheus.yml'))
  t.same(scrapes[0].static_configs[0].targets, [`tollgate:${port}`], 'and so does Prometheus')
  t.end()
})

t.test('compose.yaml: what it names is there, and a gateway may write to its volume alone', t => {
  const { services, volumes } = parse(text('compose.yaml'), { merge: true })
  const fleet = ['balancer', 'gateway-a', 'gateway-b', 'postgres', 'redis']
  t.same(Object.keys(services).sort(), [...fleet, 'grafana', 'prometheus', 'tollgate'].sort())
  for (const [name, service] of Object.entries<any>(services)) {
    t.same(service.profiles, fleet.includes(name) ? ['fleet'] : undefined, name)
    if (service.image !== undefined) t.match(service.image, /:v?\d+\.\d/, 'an exact version')
    for (const volume of (service.volumes ?? []) as string[]) {
      const [from = ''] = volume.split(':')
      t.ok(from.startsWith('.') ? existsSync(join(root, from)) : from in volumes, volume)
    }
  }
  for (const name of ['tollgate', 'gateway-a', 'gateway-b']) {
    const gateway = services[name]
    t.match(gateway, { read_only: true, cap_drop: ['ALL'] })
    t.same(gateway.volumes.at(-1), `${name}:/var/lib/tollgate`, 'a data directory of its own')
    t.ok(existsSync(join(root, gateway.build, 'Dockerfile')))
    t.ok(milliseconds(gateway.stop_grace_period) > milliseconds('65s') + 5_000)
  }
  t.same(steps(final, 'VOLUME'), ['/var/lib/tollgate'])
  const grafana = parse(text('deploy/grafana/provisioning/datasources/prometheus.yaml'))
  t.match(grafana.datasources, [{ type: 'prometheus', url: 'http://prometheus:9090' }])
  t.end()
})

t.test(
  'the gateways of the profile fleet have a valid configuration, and the balancer knows them',
  async t => {
    const { services } = parse(text('compose.yaml'), { merge: true })
    const dir = await tempDir(t)
    for (const file of ['networks', 'routes', 'methods', 'plans'])
      await cp(join(root, `${file}.yaml`), join(dir, `${file}.yaml`))
    await cp(join(root, 'deploy/fleet/gateway.yaml'), join(dir, 'gateway.yaml'))
    const { environment } = services['gateway-a']
    const env = Object.fromEntries(
      Object.entries<string>(environment).map(([name, value]) => [
        name,
        value.replace(/\$\{\w+:-(\w*)\}/, '$1'),
      ]),
    )
    const { code, stdout } = await run(['check', '--config', dir, '--json'], env)
    t.equal(code, 0)
    t.same(JSON.parse(stdout).problems, [])
    const balancer = text('deploy/haproxy/haproxy.cfg')
    for (const name of ['gateway-a', 'gateway-b']) t.ok(balancer.includes(`server ${name} ${name}:8080`))
    t.match(balancer, /check port 9465/)
  },
)

/** The manifests by kind. */
function manifests(t: Test): Map<string, any> {
  const found = new Map<string, any>()
  const { resources } = parse(text('deploy/kubernetes/kustomization.yaml'))
  for (const file of resources as string[])
    for (const document of parseAllDocuments(text(`deploy/kubernetes/${file}`))) {
      t.same(document.errors, [], file)
      const manifest = document.toJS()
      const name = `${manifest.kind} ${manifest.metadata.name}`
      t.notOk(found.has(name), name)
      found.set(name, manifest)
    }
  return found
}

t.test('the Kubernetes manifests agree with each other, and with their configuration', async t => {
  const found = manifests(t)
  const { spec } = found.get('Deployment tollgate')
  const pod = spec.template.spec
  const [container] = pod.containers
  const config = found.get('ConfigMap tollgate').data
  const gateway = parse(config['gateway.yaml'])

  const [, preStop] = container.lifecycle.preStop.exec.command
  const takes = drainOf(config['gateway.yaml']) / 1000 + Number(preStop)
  t.ok(pod.terminationGracePeriodSeconds > takes + 5, `longer than the ${takes} s that a stop may take`)

  const ports = Object.fromEntries(
    container.ports.map((port: any): [string, number] => [port.name, port.containerPort]),
  )
  t.same(ports, { http: Number(gateway.listen.split(':')[1]), probes: Number(gateway.probes.split(':')[1]) })
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    t.equal(container[probe].httpGet.port, 'probes', probe)
  t.equal(container.readinessProbe.httpGet.path, '/readyz')
  t.equal(container.livenessProbe.httpGet.path, '/livez')
  for (const name of ['Service tollgate', 'Service tollgate-metrics']) {
    const { selector, ports: served } = found.get(name).spec
    t.match(spec.template.metadata.labels, selector)
    t.ok(served[0].targetPort in ports)
  }
  t.match(spec.template.metadata.labels, found.get('PodDisruptionBudget tollgate').spec.selector.matchLabels)
  const ingress = found.get('Ingress tollgate').spec
  const { host } = new URL(parse(config['networks.yaml']).baseUrl.replace('{subdomain}', 'x'))
  const wildcard = host.replace('x.', '*.')
  t.same(
    ingress.rules.map((rule: any) => `${rule.host}: ${rule.http.paths[0].backend.service.name}`),
    [wildcard.slice(2), wildcard].map(name => `${name}: tollgate`),
  )
  t.same(ingress.tls[0].hosts, [wildcard.slice(2), wildcard])
  const policy = found.get('NetworkPolicy tollgate').spec
  t.match(spec.template.metadata.labels, policy.podSelector.matchLabels)
  t.same(
    policy.ingress.map(({ from, ports: open }: any) => `${from.length} to ${open[0].port}`),
    ['1 to http', '1 to probes'],
    'each port has one kind of visitor',
  )
  t.match(spec, { replicas: 1, strategy: { type: 'Recreate' } }, 'one gateway writes the data')

  t.match(container.securityContext, { readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
  t.match(pod.securityContext, { runAsNonRoot: true, fsGroupChangePolicy: 'OnRootMismatch' })
  const mounted = Object.fromEntries(
    container.volumeMounts.map((mount: any): [string, string] => [mount.name, mount.mountPath]),
  )
  t.same(mounted, { config: '/etc/tollgate', data: '/var/lib/tollgate', tmp: '/tmp' })
  for (const { configMap, persistentVolumeClaim } of pod.volumes) {
    if (configMap) t.ok(found.has(`ConfigMap ${configMap.name}`))
    if (persistentVolumeClaim) t.ok(found.has(`PersistentVolumeClaim ${persistentVolumeClaim.claimName}`))
  }

  const secret = found.get(`Secret ${container.envFrom[0].secretRef.name}`).stringData
  const env = {
    ...secret,
    ...Object.fromEntries(container.env.map((pair: any): [string, string] => [pair.name, pair.value])),
  }
  const dir = await tempDir(t)
  for (const [name, content] of Object.entries<string>(config)) await writeFile(join(dir, name), content)
  t.match(await run(['check', '--config', dir], env), { code: 0, stdout: /^ok: 1 network,/m })
  t.ok(
    env.TOLLGATE_DATA.startsWith(`${mounted['data']}/`),
    'below the root of the volume, which Kubernetes changes',
  )
})
