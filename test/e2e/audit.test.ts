import t from 'tap'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { withAccounts } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
})
const config = ['--config', gateway.dir]
const json = async (...args: string[]) =>
  JSON.parse((await run([...args, '--json', ...config])).stdout) as Record<string, unknown>
const trail = async (...args: string[]) =>
  (await json('audit', ...args)) as unknown as Record<string, Record<string, string>>[]

t.test('the trail has what owners, the command line and the gateway change', async t => {
  const made = await json('account', 'create', 'Acme', '--plan', 'free')
  const { accountId } = made as { accountId: string }
  const { apiKey, endpointId } = made['endpoint'] as Record<string, string>
  const update = {
    jsonrpc: '2.0',
    id: 1,
    method: 'service_updateEndpoint',
    params: [{ endpointId, name: 'mine' }],
  }
  await fetch(`${gateway.url}/alpha/v1/rpc/${apiKey!}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(update),
  })
  await run(['account', 'suspend', accountId, ...config])
  const shown = (await trail('--target', accountId)).map(({ actor, action, target }) => [
    actor,
    action,
    target,
  ])
  t.strictSame(shown, [
    ['cli', 'account.suspended', accountId],
    [`owner:${endpointId!}`, 'endpoint.changed', endpointId],
    ['cli', 'endpoint.created', endpointId],
    ['cli', 'account.created', accountId],
  ])
  const { stdout } = await run(['audit', '--target', endpointId!, '--limit', '1', ...config])
  t.match(
    stdout,
    /^TIME +ACTOR +ACTION +TARGET +CHANGE\n\d{4}-.* UTC +owner:ep_\w+ +endpoint\.changed +ep_\w+ +name: "alpha-endpoint-\w{3}" → "mine"\n$/,
  )
  t.strictSame((await trail('--actor', `owner:${endpointId!}`)).length, 1)
})

t.test('a reload is an entry, and so is an edit that was rejected', async t => {
  const file = join(gateway.dir, 'plans.yaml')
  const good = readFileSync(file, 'utf8')
  const { version: before } = await json('reload')
  const edited = good.replace(/maxBatch"?: \d+/, found => found.replace(/\d+/, '7'))
  t.not(edited, good)
  writeFileSync(file, edited)
  const { version } = await json('reload')
  t.not(version, before)
  const [reloaded] = await trail('--limit', '1')
  t.match(reloaded, { actor: 'cli', action: 'config.reloaded', target: version, before: { version: before } })
  writeFileSync(file, 'plans: [')
  await run(['reload', ...config])
  const [rejected] = await trail('--limit', '1')
  t.match(rejected, {
    action: 'config.rejected',
    target: version,
    after: { errors: Number, problems: [/^plans\.yaml/] },
  })
  writeFileSync(file, good)
  await until(
    'the edit is found',
    async () => ((await trail('--limit', '1'))[0]!['action'] as unknown) === 'config.reloaded',
  )
  t.match((await trail('--limit', '1'))[0], { target: before })
})

t.test('entries older than audit.keep are removed at the next start', async t => {
  await withAccounts(gateway, async store => {
    await store.audit.record(
      { action: 'config.reloaded', target: 'old', accountId: null, before: null, after: null },
      'gateway',
    )
  })
  const database = new DatabaseSync(join(gateway.dir, 'data', 'accounts.db'), { timeout: 5_000 })
  const age = (days: number) =>
    database.exec(`UPDATE audit SET at = unixepoch() - ${days} * 86400 WHERE target = 'old'`)
  age(399)
  await gateway.stop()
  await gateway.start()
  t.equal((await trail('--target', 'old')).length, 1)
  age(401)
  await gateway.stop()
  await gateway.start()
  await until('it is gone', async () => !Array.isArray(await trail('--target', 'old')))
  t.ok((await trail()).length > 4, 'the others stay')
  database.close()
})

t.test('bug: who or what is not known was answered with headings alone', async t => {
  t.match(await run(['audit', '--actor', 'bob', ...config]), {
    code: 2,
    stderr: /--actor must be cli, gateway/,
  })
  t.match(await run(['audit', '--target', 'ep_nope', ...config]), {
    code: 1,
    stdout: '',
    stderr: 'tollgate: there is no "ep_nope" in the audit trail\n',
  })
  t.match(await run(['audit', '--actor', 'token:tok_none', ...config]), { code: 0, stdout: /^TIME +ACTOR/ })
})

t.test('bug: times beyond every calendar made a token, and broke what shows them', async t => {
  const refused = await run(['token', 'create', '--scope', 'audit:read', '--expires', '99999999d', ...config])
  t.match(refused, { code: 2, stderr: /--expires must end in the year 9999 at the latest/ })
  t.strictSame(await json('token', 'list'), [])
  t.match(await run(['audit', '--to', '99999999999999', ...config]), { code: 2 })
  await withAccounts(gateway, store =>
    store.tokens.create({ name: null, scopes: ['audit:read'], expiresAt: Number.MAX_SAFE_INTEGER }),
  )
  t.match(await run(['token', 'list', ...config]), { code: 0, stdout: /9007199254740991/ })
})

t.test('bug: a key that has expired was said to be deleted or rotated', async t => {
  const made = await json('account', 'create', 'Ends', '--plan', 'free')
  const { apiKey, endpointId } = made['endpoint'] as Record<string, string>
  const { accountId } = made as { accountId: string }
  await withAccounts(gateway, store =>
    store.endpoints.change(accountId, endpointId!, { expiresAt: 1_700_000_000 }),
  )
  t.match(await run(['find', apiKey!, ...config]), {
    code: 1,
    stderr: `tollgate: this key of ${endpointId!} expired at 2023-11-14 22:13:20 UTC\n`,
  })
  const { stdout } = await run(['audit', '--target', endpointId!, '--limit', '1', ...config])
  t.match(stdout, /expiresAt: null → 2023-11-14 22:13:20 UTC\n$/)
})
