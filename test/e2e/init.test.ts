import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Child, cleanEnvironment } from '../support/child.ts'
import { run, runJson } from '../support/cli.ts'
import { mainFile, root, program } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'

const SHIPPED = ['ethereum', 'bsc', 'arbitrum-one', 'base', 'polygon-bor', 'solana']
const FILES = ['gateway.yaml', 'methods.yaml', 'networks.yaml', 'plans.yaml', 'routes.yaml']

// Most of each is a start that waits for nodes which are not there.
t.jobs = 7
for (const slugs of [...SHIPPED.map(slug => [slug]), SHIPPED])
  t.test(`init for ${slugs.join(', ')}: check is content, serve gets ready`, async t => {
    const dir = join(await tempDir(t), 'new', 'gateway')
    const { code, stdout } = await run(['init', dir, ...slugs.flatMap(slug => ['--network', slug])])
    t.equal(code, 0)
    t.match(stdout, `${program} check --config ${dir}`)
    t.match(
      stdout,
      `${program} account create acme --plan free --chain ${slugs[0]!} --init --config ${dir}\n`,
    )
    t.match(stdout, `${program} serve --config ${dir}\n`)
    t.same(readdirSync(dir).sort(), FILES)
    for (const file of FILES) {
      const lines = readFileSync(join(dir, file), 'utf8').trimEnd().split('\n')
      t.ok(lines.length < 40, `${file} has ${lines.length} lines`)
    }
    const checked = await run(['check', '--data', '--config', dir, '--json'], {
      TOLLGATE_LISTEN: '127.0.0.1:0',
      TOLLGATE_ADMIN: '127.0.0.1:0',
    })
    t.equal(checked.code, 0)
    t.match(JSON.parse(checked.stdout), { ok: true, problems: [], counts: { networks: slugs.length } })
    // None of the public upstreams answers here: the gateway is ready all the same.
    const env = cleanEnvironment({ TOLLGATE_LISTEN: '127.0.0.1:0', TOLLGATE_ADMIN: '127.0.0.1:0' })
    const child = new Child(process.execPath, [mainFile, 'serve', '--config', dir], env)
    t.teardown(() => child.stop('SIGKILL'))
    const ready = await child.output('ready', () =>
      child.stdout.split('\n').find(line => line.includes('"ready"') && line.endsWith('}')),
    )
    const { listen } = JSON.parse(ready) as { listen: string }
    const reply = await fetch(`http://${listen}/${slugs[0]!}/v1/rpc/nokey`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"getHealth","params":[]}',
    })
    t.equal(reply.status, 401)
    t.match(await child.stop('SIGTERM'), { code: 0 })
  })

t.test('init says what it cannot do, and writes over nothing', async t => {
  const dir = await tempDir(t)
  t.match(await run(['init', dir, '--network', 'etherum']), {
    code: 1,
    stderr: 'there is no network "etherum"; did you mean "ethereum"?',
  })
  for (const [word, meant] of [
    ['polygon', 'polygon-bor'],
    ['arbitrum', 'arbitrum-one'],
    ['eth', 'ethereum'],
  ])
    t.match(await run(['init', dir, '--network', word!]), {
      code: 1,
      stderr: `there is no network "${word!}"; did you mean "${meant!}"?`,
    })
  t.match(await run(['init', dir]), {
    code: 2,
    stderr: `--network is missing; there are ${SHIPPED.join(', ')}`,
  })
  t.same(readdirSync(dir), [])
  writeFileSync(join(dir, 'plans.yaml'), 'mine')
  t.match(await run(['init', dir, '--network', 'solana']), { code: 1, stderr: 'plans.yaml is there already' })
  t.same(readdirSync(dir), ['plans.yaml'])
  t.equal(readFileSync(join(dir, 'plans.yaml'), 'utf8'), 'mine')
  const named = join(dir, 'named')
  t.match(await run(['init', '--config', named, '--network', 'solana']), { code: 0 })
  t.same(readdirSync(named).sort(), FILES, '--config names the folder too')
  t.match(await run(['init', dir, 'other', '--network', 'solana']), {
    code: 2,
    stderr: 'unexpected argument "other"',
  })
})

t.test('printed URLs have the port that the gateway listens on', async t => {
  const dir = await tempDir(t)
  await run(['init', dir, '--network', 'ethereum'])
  const create = ['account', 'create', 'acme', '--plan', 'free', '--init', '--config']
  const TOLLGATE_DATA = await tempDir(t)
  for (const config of [dir, root]) {
    const { stdout } = await run([...create, config], { TOLLGATE_LISTEN: '0.0.0.0:21007', TOLLGATE_DATA })
    t.match(stdout, 'http://ethereum-rpc.localhost:21007/v1/rpc/tg_')
    t.match((await run([...create, config], { TOLLGATE_DATA })).stdout, '//ethereum-rpc.localhost:8080/')
    const TOLLGATE_BASE_URL = 'https://{subdomain}.example.com'
    const env = { TOLLGATE_BASE_URL, TOLLGATE_LISTEN: '0.0.0.0:21007', TOLLGATE_DATA }
    t.match((await run([...create, config], env)).stdout, 'https://ethereum-rpc.example.com/v1/rpc/')
  }
})

t.test('a network is added or renamed in networks.yaml and routes.yaml alone', async t => {
  const dir = await tempDir(t)
  await run(['init', dir, '--network', 'ethereum'])
  const networks = join(dir, 'networks.yaml')
  const routes = join(dir, 'routes.yaml')
  writeFileSync(
    networks,
    `${readFileSync(networks, 'utf8')}  optimism:\n    name: OP Mainnet\n    family: evm\n    dialect: op-stack\n    chainId: 10\n`,
  )
  writeFileSync(
    routes,
    `${readFileSync(routes, 'utf8')}  - id: optimism-a\n    network: optimism\n    http: http://127.0.0.1:9\n`,
  )
  t.match(await runJson(dir, ['check']), { ok: true })
  const { stdout } = await run(['explain', 'optimism', 'optimism_syncStatus', '--config', dir])
  t.match(stdout, 'optimism_syncStatus on optimism (dialect op-stack)')
  t.match(stdout, 'optimism_syncStatus is written, but its rule says enabled: false')
  t.match(
    (await run(['explain', 'ethereum', 'optimism_syncStatus', '--config', dir])).stdout,
    'its rule is for the dialect op-stack only',
  )
})

t.test(
  'of the shipped files Ethereum and Solana are left by edits of networks.yaml and routes.yaml alone',
  async t => {
    const dir = await tempDir(t)
    const removed = SHIPPED.filter(slug => slug !== 'ethereum' && slug !== 'solana').join('|')
    const without: Readonly<Record<string, RegExp>> = {
      'networks.yaml': new RegExp(`^  (${removed}):\\n(    .*\\n)+\\n?`, 'gm'),
      'routes.yaml': new RegExp(`^  - id: (${removed})-[ab]\\n(    .*\\n)+\\n?`, 'gm'),
    }
    for (const file of FILES) {
      const text = readFileSync(join(root, file), 'utf8')
      writeFileSync(join(dir, file), without[file] === undefined ? text : text.replaceAll(without[file], ''))
    }
    const { ok, problems, counts } = await runJson(dir, ['check'])
    t.match({ ok, counts }, { ok: true, counts: { networks: 2, routes: 4 } })
    t.same(problems, [])
  },
)
