/** One table of edits: what a reload, check --data and a start say of each. */
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { run, runJson } from '../support/cli.ts'
import { amplePlans, writeConfig, type ConfigOptions } from '../support/config-files.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'

const node = await startNode(t, { chainId: 1001 })
const config: ConfigOptions = {
  networks: { alpha: { chainId: 1001 }, beta: { chainId: 1002 } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url },
    { id: 'beta-a', network: 'beta', http: node.url },
  ],
  methods: 'families: { evm: { eth_chainId: { answer: chainId } } }\n',
}
const gateway = await startGateway(t, { ...config, gateway: { management: { keys: 'first' } } })
await createAccess(gateway, 'free', 'beta')
const taken = createServer().listen(0, '127.0.0.1')
await once(taken, 'listening')
t.teardown(() => taken.close())
const busy = `127.0.0.1:${(taken.address() as AddressInfo).port}`

const shared = await freePort()

/** Another gateway, which goes on running. */
const other = await startGateway(t, config)
/** Data directories of all kinds. */
const dirs = await tempDir(t)
const gold = join(dirs, 'gold')
await writeConfig(dirs, { ...config, plans: { gold: amplePlans['paid']! }, gateway: { dataDir: gold } })
await runJson(dirs, ['account', 'create', 'acme', '--plan', 'gold', '--init'])
/** Accounts beside a journal that is no database, and beside the log of one that is gone. */
for (const [name, file] of [
  ['gold-broken', 'journal.db'],
  ['gold-lone', 'journal.db-wal'],
] as const) {
  const data = join(dirs, name)
  await writeConfig(dirs, { ...config, gateway: { dataDir: data } })
  await runJson(dirs, ['account', 'create', 'acme', '--plan', 'paid', '--init'])
  writeFileSync(join(data, file), 'no database\n'.repeat(1000))
}
mkdirSync(join(dirs, 'broken'))
writeFileSync(join(dirs, 'broken', 'accounts.db'), 'no database\n'.repeat(1000))

interface Case {
  readonly name: string
  readonly file: string
  readonly edit: (text: string) => string
  /** What is told of it; of a warning it is accepted. */
  readonly told: RegExp | null
  readonly refused: boolean
  /** What a start says where it finds it out by itself, without the place. */
  readonly atStart?: RegExp
  /** It is a warning where no gateway runs. */
  readonly warnedAtStart?: boolean
}

const inUse = `cannot listen on ${busy}: the port is in use`
const dataDir = (dir: string) => (text: string) => withKey(text, 'dataDir', dir)
const address = (name: 'listen' | 'admin', to: string) => (text: string) =>
  text.replace(new RegExp(`("?${name}"?: *)"?127\\.0\\.0\\.1:0"?`), `$1"${to}"`)

const cases: readonly Case[] = [
  {
    name: 'a key that is none',
    file: 'plans.yaml',
    edit: text => `${text}\ncolour: red\n`,
    told: /plans\.yaml:\d+:1 colour: unknown key/,
    refused: true,
  },
  {
    name: 'a plan that an account has is gone',
    file: 'plans.yaml',
    edit: text => text.replace(/\bfree"?:/, match => match.replace('free', 'gratis')),
    told: /plans\.yaml:\d+:\d+ plans: accounts use a plan that is not here: "free"; move them to another plan first \(tollgate account set-plan <id> <plan>\): 1 account has "free": acc_\w+/,
    refused: true,
  },
  {
    name: 'a plan that nobody has is gone',
    file: 'plans.yaml',
    edit: text => text.replace(/\bpaid"?:/, match => match.replace('paid', 'gold')),
    told: null,
    refused: false,
  },
  {
    name: 'a network that endpoints are on has another name',
    file: 'networks.yaml',
    edit: text => text.replace(/\bbeta"?:/, match => match.replace('beta', 'gamma')),
    told: /networks\.yaml:\d+:\d+ networks: (?:warning: )?1 endpoint is on the network "beta", which is not here; move it to another one first \(tollgate endpoint move --from beta --to <network>\), or acknowledge that its calls are refused \[endpoints-without-network\]/,
    refused: true,
    // To serve nobody would be worse.
    warnedAtStart: true,
  },
  {
    name: 'an address that another process holds',
    file: 'gateway.yaml',
    edit: address('listen', busy),
    told: new RegExp(`gateway\\.yaml:\\d+:\\d+ listen: ${inUse}`),
    refused: true,
    atStart: new RegExp(`^tollgate: ${inUse}$`, 'm'),
  },
  {
    name: 'an address of another machine',
    file: 'gateway.yaml',
    edit: address('listen', '192.0.2.1:0'),
    told: /gateway\.yaml:\d+:\d+ listen: cannot listen on 192\.0\.2\.1:0: this machine has no such address/,
    refused: true,
    atStart: /^tollgate: cannot listen on 192\.0\.2\.1:0: this machine has no such address$/m,
  },
  {
    name: 'the port that the gateway has itself, by another host',
    file: 'gateway.yaml',
    edit: text => address('listen', `0.0.0.0:${gateway.port}`)(text),
    told: null,
    refused: false,
  },
  {
    name: 'two listeners on one port',
    file: 'gateway.yaml',
    edit: text => address('admin', `127.0.0.1:${shared}`)(address('listen', `0.0.0.0:${shared}`)(text)),
    told: /admin: listen \(0\.0\.0\.0:\d+\) and admin \(127\.0\.0\.1:\d+\) cannot listen on the same port; give each/,
    refused: true,
  },
  {
    name: 'two listeners on the port that the gateway has itself, one by name',
    file: 'gateway.yaml',
    edit: text =>
      address('admin', `127.0.0.1:${gateway.port}`)(address('listen', `localhost:${gateway.port}`)(text)),
    told: /admin: listen \(localhost:\d+\) and admin \(127\.0\.0\.1:\d+\) cannot listen on the same port; give each/,
    refused: true,
    atStart: /cannot listen on \S+: the port is in use/,
  },
  {
    name: 'a data directory that another gateway uses',
    file: 'gateway.yaml',
    edit: dataDir(join(other.dir, 'data')),
    told: /gateway\.yaml:\d+:\d+ dataDir: another tollgate serve is using \S+data$/m,
    refused: true,
    atStart: /^tollgate: another tollgate serve is using \S+data$/m,
  },
  {
    name: 'a data directory below a file',
    file: 'gateway.yaml',
    edit: dataDir('./plans.yaml/data'),
    told: /gateway\.yaml:\d+:\d+ dataDir: the data directory \S+ cannot be made: part of its path is not a directory/,
    refused: true,
    atStart: /^tollgate: the data directory \S+ cannot be made: part of its path is not a directory$/m,
  },
  {
    name: 'a data directory where the system takes none',
    file: 'gateway.yaml',
    edit: dataDir('/proc/tollgate/data'),
    told: /gateway\.yaml:\d+:\d+ dataDir: the data directory \S+ cannot be made: /,
    refused: true,
    atStart: /^tollgate: the data directory \S+ cannot be made: .+$/m,
  },
  {
    name: 'a data directory with a file of accounts that is none',
    file: 'gateway.yaml',
    edit: dataDir(join(dirs, 'broken')),
    told: /gateway\.yaml:\d+:\d+ dataDir: \S+accounts\.db is not a SQLite database/,
    refused: true,
    atStart: /^tollgate: \S+accounts\.db is not a SQLite database$/m,
  },
  {
    name: 'a data directory with a journal that is none',
    file: 'gateway.yaml',
    edit: dataDir(join(dirs, 'gold-broken')),
    told: /gateway\.yaml:\d+:\d+ dataDir: \S+journal\.db is not a SQLite database/,
    refused: true,
    atStart: /^tollgate: \S+journal\.db is not a SQLite database$/m,
  },
  {
    name: 'a data directory with the log of a journal that is missing',
    file: 'gateway.yaml',
    edit: dataDir(join(dirs, 'gold-lone')),
    told: /gateway\.yaml:\d+:\d+ dataDir: \S+journal\.db is missing while \S+journal\.db-wal holds changes to it/,
    refused: true,
    atStart: /^tollgate: \S+journal\.db is missing while /m,
  },
  {
    name: 'a data directory with accounts on a plan that is not there',
    file: 'gateway.yaml',
    edit: dataDir(gold),
    told: /plans\.yaml:\d+:\d+ plans: accounts use a plan that is not here: "gold"/,
    refused: true,
  },
  {
    name: 'another data directory',
    file: 'gateway.yaml',
    edit: dataDir('./elsewhere'),
    told: null,
    refused: false,
  },
  {
    name: 'a certificate that is not there',
    file: 'gateway.yaml',
    edit: text => withKey(text, 'tls', '{ cert: none.pem, key: none.pem }'),
    told: /gateway\.yaml:\d+:\d+ tls\.cert: /,
    refused: true,
  },
]

function withKey(text: string, name: string, value: string): string {
  return text.trimStart().startsWith('{')
    ? text.replace('{', `{ "${name}": ${value},`)
    : `${text}\n${name}: ${value}\n`
}

/** Does something while the edit is made. */
async function edited({ file, edit }: Case, work: () => Promise<void>): Promise<void> {
  const path = join(gateway.dir, file)
  const good = await readFile(path, 'utf8')
  const bad = edit(good)
  t.not(bad, good)
  // Two files name the network that is renamed.
  const routes = join(gateway.dir, 'routes.yaml')
  const ways = await readFile(routes, 'utf8')
  await writeFile(path, bad)
  if (file === 'networks.yaml') await writeFile(routes, ways.replaceAll(/\bbeta\b(?!-)/g, 'gamma'))
  try {
    await work()
  } finally {
    await writeFile(path, good)
    await writeFile(routes, ways)
  }
}

const reload = () => fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })
const check = () => run(['check', '--data', '--config', gateway.dir])

for (const each of cases) {
  const { name, told, refused } = each
  t.test(`${name}: a reload and check --data beside the gateway say the same`, async t => {
    await edited(each, async () => {
      const reloaded = await reload()
      const { ok, problems } = (await reloaded.json()) as { ok: boolean; problems: { severity: string }[] }
      t.same(
        { status: reloaded.status, ok },
        refused ? { status: 422, ok: false } : { status: 200, ok: true },
      )
      const beside = await check()
      t.equal(beside.code, refused ? 1 : 0)
      if (told !== null) {
        t.match(beside.stdout, told)
        t.ok(problems.some(({ severity }) => (severity === 'error') === refused))
      } else t.same(problems, [])
    })
    t.equal((await reload()).status, 200, 'as it was')
  })
}

// One stop for all of them: a start of each takes most of the time.
t.test('without the gateway', async t => {
  await gateway.stop()
  for (const each of cases)
    await t.test(`${each.name}: check --data and a start say the same`, async t => {
      const { told, atStart, warnedAtStart } = each
      const refused = each.refused && warnedAtStart !== true
      await edited(each, async () => {
        const alone = await check()
        t.equal(alone.code, refused ? 1 : 0)
        if (told !== null) t.match(alone.stdout, told)
        if (refused) {
          const { code, stdout, stderr } = await run(['serve', '--config', gateway.dir])
          t.equal(code, 1)
          t.match(stdout + stderr, atStart ?? told!)
        } else {
          await gateway.start()
          if (told !== null)
            t.match(gateway.printed, told.source.includes('endpoint') ? 'which is not here' : told)
          await gateway.stop()
        }
      })
    })
})
