/** A terminal gets printable text, whatever a database, a log or a file holds. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

/** Clears a screen, by two forms of the control sequence, turns the direction of text around, and begins a line of its own. */
const HOSTILE = 'a\x1b[2J\x9b2J\u202eb\u2028\r\nacc_forged'
const SHOWN = 'a\\u001b[2J\\u009b2J\\u202eb\\u2028\\u000d'

const UNPRINTABLE = /[\0-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  gateway: { log: { access: { to: 'access.log' } } },
})
const access = await createAccess(gateway, 'free', 'alpha')
const { accountId, endpointId, key } = access
await withAccounts(gateway, async store => {
  await store.accounts.change(accountId, {
    externalId: 'crm-1',
    email: 'a@example.org',
    labels: { team: 'x' },
  })
  await store.alerts.setWebhook(accountId, 'https://hooks.example.org/x')
  await store.tokens.create({ name: 'ci', scopes: ['usage:read'], expiresAt: null })
})
await access.call('web3_sha3', ['0x00'])
await until('the call is in the ledger', async () => {
  const { stdout } = await run(['usage', '--json', '--config', gateway.dir])
  return (JSON.parse(stdout) as object[]).length > 0
})

/** As another program, or an older one, may have left the file. */
const database = new DatabaseSync(join(gateway.dir, 'data', 'accounts.db'))
const labels = JSON.stringify({ team: HOSTILE })
database
  .prepare('UPDATE account SET name = ?1, external_id = ?1, email = ?1, labels = ?2')
  .run(HOSTILE, labels)
database.prepare('UPDATE endpoint SET name = ?1, labels = ?2').run(HOSTILE, labels)
database.prepare('UPDATE token SET name = ?').run(HOSTILE)
database.prepare('UPDATE webhook SET url = ?').run(`https://hooks.example.org/${HOSTILE}/x`)
database
  .prepare('UPDATE audit SET actor = ?1, after = ?2')
  .run(HOSTILE, JSON.stringify({ [HOSTILE]: HOSTILE }))
database.close()

const requestId = 'abcdefghijklmnop'
const line = {
  time: HOSTILE,
  msg: 'call',
  requestId,
  account: accountId,
  endpoint: endpointId,
  network: HOSTILE,
}
const call = { ...line, method: HOSTILE, route: HOSTILE, status: 200, reason: HOSTILE, outcome: HOSTILE }
await writeFile(join(gateway.dir, 'access.log'), `${JSON.stringify(call)}\n`)

const commands: readonly (readonly string[])[] = [
  ['account', 'list'],
  ['account', 'show', accountId],
  ['account', 'label', accountId],
  ['account', 'set-plan', accountId, 'paid'],
  ['account', 'label', accountId, '--set', 'other=y'],
  ['endpoint', 'list', '--account', accountId],
  ['endpoint', 'label', endpointId],
  ['endpoint', 'label', endpointId, '--set', 'other=y'],
  ['token', 'list'],
  ['audit'],
  ['find', key],
  ['find', requestId],
  ['top'],
  ['top', '--by', 'endpoint'],
  ['usage', '--by', 'account'],
  ['usage', '--by', 'account', '--format', 'csv'],
  ['explain', 'alpha', 'web3_sha3', '--endpoint', endpointId],
]

for (const args of commands)
  t.test(args.slice(0, 2).join(' '), async t => {
    const { code, stdout, stderr } = await run([...args, '--config', gateway.dir])
    t.equal(code, 0, 'it does what it is asked for')
    t.notMatch(`${stdout}${stderr}`, UNPRINTABLE)
    // A cell of CSV is quoted.
    if (!args.includes('csv')) t.notMatch(stdout, /^acc_forged/m, 'a value begins no line')
    const json = await run([...args, '--json', '--config', gateway.dir])
    t.notMatch(json.stdout, UNPRINTABLE)
    t.doesNotThrow(() => JSON.parse(json.stdout) as unknown, 'as JSON it is the same value')
  })

t.test('names are shown with escapes', async t => {
  const { stdout } = await run(['account', 'list', '--config', gateway.dir])
  t.ok(stdout.includes(`${SHOWN}\\nacc_forged`), stdout)
  const { stdout: json } = await run(['account', 'list', '--json', '--config', gateway.dir])
  t.match(JSON.parse(json), [{ accountId, name: HOSTILE }])
})

t.test('what is wrong in a file is one line', async t => {
  const file = join(gateway.dir, 'plans.yaml')
  const plans = await readFile(file, 'utf8')
  t.teardown(() => writeFile(file, plans))
  await writeFile(file, `${plans}  ${JSON.stringify(HOSTILE)}: ${JSON.stringify({ tiers: [HOSTILE] })}\n`)
  const { code, stdout, stderr } = await run(['check', '--config', gateway.dir])
  t.equal(code, 1)
  t.notMatch(`${stdout}${stderr}`, UNPRINTABLE)
  t.notMatch(stdout, /^acc_forged/m)
})

t.test('a word that is refused is not repeated as it is', async t => {
  const word = `x${HOSTILE}`
  for (const args of [['find', word], [word], ['account', 'show', word], ['check', `--${word}`]]) {
    const { code, stdout, stderr } = await run([...args, '--config', gateway.dir])
    t.not(code, 0)
    t.notMatch(`${stdout}${stderr}`, UNPRINTABLE)
    t.notMatch(stderr, /^acc_forged/m)
  }
})
