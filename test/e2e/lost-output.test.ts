/** A command whose result cannot be written: it says so in a sentence, exits 1, and names what was done and how to see it again. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { cleanEnvironment } from '../support/child.ts'
import { runJson } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway, startGateway } from '../support/gateway.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'

const FULL = '/dev/full'
const skip = existsSync(FULL) ? false : `no ${FULL} here`
const { dir } = await prepareGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
  methods: fewMethods,
})
const at = ['--config', dir]
const { accountId: id } = await runJson(dir, ['account', 'create', 'acme', '--plan', 'paid', '--init'])

/** Runs a command whose stdout takes nothing. */
function lost(args: readonly string[], stdout = FULL): { code: number | null; stderr: string } {
  const fd = openSync(stdout, stdout === FULL ? 'w' : 'r')
  const { status, stderr } = spawnSync(nodeFile, [mainFile, ...args], {
    env: cleanEnvironment(),
    encoding: 'utf8',
    stdio: ['ignore', fd, 'pipe'],
  })
  closeSync(fd)
  return { code: status, stderr: stderr.replace(/^tollgate: data directory .*\n/, '') }
}

const sentence = (rest: string): RegExp =>
  new RegExp(`^tollgate: stdout cannot be written: the disk is full${rest}\n$`)
const AGAIN = (account: string): string => `"\\S.* account rotate-token ${account} --config ${dir}"`

t.test('an account that nobody has seen is told, with ways to its token and its key', { skip }, async t => {
  for (const json of [[], ['--json']]) {
    const said = lost(['account', 'create', `other${json.join()}`, '--plan', 'paid', ...json, ...at])
    const account = /acc_\w+/.exec(said.stderr)?.[0] ?? ''
    const rest = `; the account ${account} was made: ${AGAIN(account)} gives it a new dashboard token, "\\S.* endpoint list --account ${account} --config ${dir}" shows its key`
    t.match(said, { code: 1 })
    t.match(said.stderr, sentence(rest))
    const shown = await runJson(dir, ['endpoint', 'list', '--account', account])
    t.match(shown, { endpoints: [{ apiKey: /./ }] })
  }
})

t.test('other changes are told too, and what only looks says that it was not written', { skip }, t => {
  const rest = `; the account ${id} has a new dashboard token: ${AGAIN(id)} gives it another`
  t.match(lost(['account', 'rotate-token', id, ...at]), { code: 1, stderr: sentence(rest) })
  const made = lost(['endpoint', 'create', '--account', id, '--chain', 'alpha', ...at])
  const shows = `"\\S.* endpoint list --account ${id} --config ${dir}" shows it`
  t.match(made, { code: 1, stderr: sentence(`; the endpoint ep_\\w+ was made: ${shows}`) })
  t.match(lost(['account', 'suspend', id, ...at]), { code: 1, stderr: sentence('; the change was made') })
  for (const args of [['account', 'list'], ['check'], ['dump'], ['usage'], ['usage', '--csv']])
    t.match(lost([...args, ...at]), { code: 1, stderr: sentence('') }, args.join(' '))
  for (const args of [['--help'], ['--version'], ['completion', 'bash']])
    t.match(lost(args), { code: 1, stderr: sentence('') }, args.join(' '))
  t.end()
})

t.test('where nobody reads any more only what was changed is told', async t => {
  const unread = async (...args: string[]) => {
    const child = spawn(nodeFile, [mainFile, ...args, ...at], { env: cleanEnvironment() })
    child.stdout.destroy()
    const [said, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
    return { code, said }
  }
  t.match(await unread('account', 'list'), { code: 0, said: /^tollgate: data directory .*\n$/ })
  t.match(await unread('account', 'create', 'unread', '--plan', 'paid'), {
    code: 1,
    said: /stdout cannot be written: nobody reads it; the account acc_\w+ was made: /,
  })
})

t.test('an output that is open for reading only is a sentence too', t => {
  const { code, stderr } = lost(['--version'], '/dev/null')
  t.equal(code, 1)
  t.match(stderr, /^tollgate: stdout cannot be written: .+\n$/)
  t.end()
})

/** Runs a command whose stdout is closed, as `>&-` of a shell does. */
function unopened(...args: string[]): { code: number | null; stderr: string } {
  const { status, stderr } = spawnSync('sh', ['-c', 'exec "$@" >&-', 'sh', nodeFile, mainFile, ...args], {
    env: cleanEnvironment(),
    encoding: 'utf8',
  })
  return { code: status, stderr }
}

t.test('a stdout that is closed loses a token as a full disk does', t => {
  for (const json of [[], ['--json']]) {
    const { code, stderr } = unopened(
      'account',
      'create',
      `closed${json.join()}`,
      '--plan',
      'paid',
      ...json,
      ...at,
    )
    t.equal(code, 1)
    t.match(stderr, /stdout cannot be written: it is closed; the account acc_\w+ was made: /)
  }
  t.match(unopened('account', 'rotate-token', id, ...at), {
    code: 1,
    stderr: /it is closed; the account acc_\w+ has a new/,
  })
  t.match(unopened('account', 'suspend', id, ...at), { code: 0 }, 'what is asked for needs no word')
  t.end()
})

t.test('init names what it has written', { skip }, async t => {
  const folder = join(await tempDir(t), 'new')
  const { code, stderr } = lost(['init', folder, '--network', 'ethereum'])
  t.equal(code, 1)
  t.match(
    stderr,
    `; wrote ${['networks', 'routes', 'methods', 'plans', 'gateway'].map(name => join(folder, `${name}.yaml`)).join(', ')}\n`,
  )
})

t.test('a reload whose answer is lost says what is served', { skip }, async t => {
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
    methods: fewMethods,
  })
  const plans = join(gateway.dir, 'plans.yaml')
  const whole = readFileSync(plans, 'utf8')
  const args = ['reload', '--config', gateway.dir]
  t.match(lost(args), { code: 1, stderr: sentence('; the edit is served: version \\w+') })
  writeFileSync(plans, 'plans: 1\n')
  t.match(lost([...args, '--json']), {
    code: 1,
    stderr: /the edit was refused; .*\n.*stdout cannot be written/,
  })
  writeFileSync(plans, whole)
})
