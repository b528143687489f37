import { renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { parse, stringify } from 'yaml'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { send } from '../support/http.ts'
import { echo } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const chainId = 1001
const node = (await startNode(t, { chainId })).on('web3_sha3', echo)
const gateway = await startGateway(t, {
  networks: { alpha: { chainId }, gone: { chainId } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url },
    { id: 'gone-a', network: 'gone', http: node.url },
  ],
  methods: fewMethods,
})
const body = message('web3_sha3', ['0x00'])
const file = (name: string): string => join(gateway.dir, name)
const edit = async (name: string, change: (document: any) => void): Promise<void> => {
  const document = parse(await readFile(file(name), 'utf8'))
  change(document)
  await writeFile(file(name), stringify(document))
}
const post = async (path: string): Promise<{ status: number; json: any }> => {
  const { status, text } = await send(Number(new URL(gateway.adminUrl).port), { path, body: '' })
  return { status, json: JSON.parse(text) }
}
const version = async (): Promise<string> => String((await gateway.status()).version)
const taken = (from: string) => until('the edit is served', async () => (await version()) !== from)

/** Resolves when the log has the line; it is written a moment after the edit is served. */
const logged = (line: string) =>
  until(`the log says ${line}`, () => Promise.resolve(gateway.printed.includes(line)))

t.test(
  'an edit is served without a restart, told line by line, and leaves what it does not concern alone',
  async t => {
    const access = await createAccess(gateway, 'paid', 'alpha')
    t.equal((await access.post(body)).status, 200)
    const before = await version()
    await edit('plans.yaml', ({ plans }) => (plans.paid.maxBatch = 2))
    await taken(before)
    t.ok(await logged('plans.yaml: ~ paid maxBatch 100 → 2'))
    const reply = JSON.parse((await access.post(`[${body},${body},${body}]`)).text)
    t.match(reply, [{ error: { data: { reason: 'batch_too_large', maxBatch: 2 } } }, {}, {}])
  },
)

t.test('a bad edit changes nothing and says where it is wrong', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const before = await version()
  const good = await readFile(file('routes.yaml'), 'utf8')
  await edit('routes.yaml', ({ routes }) => (routes[0].wieght = 3))
  const { status, json } = await post('/reload')
  t.equal(status, 422)
  t.match(json, { ok: false, version: before, changes: [] })
  t.match(json.problems, [{ file: 'routes.yaml', severity: 'error', hint: 'did you mean "weight"?' }])
  t.match((await gateway.status()).reload, { ok: false, problems: [{ file: 'routes.yaml' }] })
  t.match(
    (await send(Number(new URL(gateway.adminUrl).port), { path: '/metrics', method: 'GET' })).text,
    /^tollgate_config_last_reload_successful 0$/m,
  )
  t.equal((await access.post(body)).status, 200, 'the last good one is still served')
  await writeFile(file('routes.yaml'), good)
  t.match((await post('/reload')).json, { ok: true, version: before, changes: [] })
})

t.test('a plan that accounts use cannot be taken away', async t => {
  await createAccess(gateway, 'paid', 'alpha')
  const good = await readFile(file('plans.yaml'), 'utf8')
  await edit('plans.yaml', ({ plans }) => delete plans.paid)
  const { status, json } = await post('/reload')
  t.equal(status, 422)
  t.match(JSON.stringify(json.problems), 'accounts use a plan that is not here')
  t.match(JSON.stringify(json.problems), /: \d+ accounts? (has|have) \\"paid\\": acc_\w+/)
  await writeFile(file('plans.yaml'), good)
  t.equal((await post('/reload')).status, 200)
})

t.test('atomic renames and a swap of the ..data link are seen, again and again', async t => {
  const text = await readFile(file('plans.yaml'), 'utf8')
  const withBatch = (size: number): string => text.replace(/(maxBatch["']?: ?)\d+/, `$1${size}`)
  for (const size of [11, 12, 13]) {
    const before = await version()
    writeFileSync(file('plans.new'), withBatch(size))
    renameSync(file('plans.new'), file('plans.yaml'))
    await taken(before)
  }
  for (const size of [21, 22]) {
    const before = await version()
    await mkdir(file(`..${size}`))
    writeFileSync(join(file(`..${size}`), 'plans.yaml'), withBatch(size))
    symlinkSync(`..${size}`, file('..data_tmp'))
    renameSync(file('..data_tmp'), file('..data'))
    if (size === 21) {
      symlinkSync('..data/plans.yaml', file('plans.link'))
      renameSync(file('plans.link'), file('plans.yaml'))
    }
    await taken(before)
  }
  t.ok(await logged('maxBatch 21 → 22'))
})

t.test(
  'a network with endpoints goes only when that is acknowledged: it answers 404, they stay listed',
  async t => {
    const access = await createAccess(gateway, 'paid', 'alpha')
    const gone = await access.another('gone')
    t.equal((await gone.post(body)).status, 200)
    const before = await version()
    await edit('networks.yaml', ({ networks }) => delete networks.gone)
    await edit('routes.yaml', ({ routes }) => void routes.pop())
    const { status, json } = await post('/reload')
    t.strictSame(
      [
        status,
        ...json.problems.flatMap(({ severity, message }: any) =>
          severity === 'error' ? [String(message)] : [],
        ),
      ],
      [422, '1 endpoint is on the network "gone", which is not here'],
    )
    t.equal((await gone.post(body)).status, 200)
    await edit('gateway.yaml', document => (document.acknowledge = ['endpoints-without-network']))
    gateway.signal('SIGHUP')
    await taken(before)
    t.equal((await gone.post(body)).status, 404)
    t.equal((await access.post(body)).status, 200)
    t.match(await access.managed('service_listEndpoints'), { total: 2 })
  },
)
