/** `endpoint move`: what was on a network that is renamed or removed is served on another, under the same keys. */
import { join } from 'node:path'
import { readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { run, runJson } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: {
    old: { chainId: 1001 },
    other: { chainId: 1001 },
    sol: { family: 'solana', chainId: 'solana-test' },
  },
  methods: fewMethods,
  routes: [
    { id: 'old-a', network: 'old', http: node.url },
    { id: 'other-a', network: 'other', http: node.url },
    { id: 'sol-a', network: 'sol', http: node.url },
  ],
  gateway: { acknowledge: ['endpoints-without-network'] },
})
const body = message('web3_sha3', ['0x00'])
const first = await createAccess(gateway, 'paid', 'old')
const second = await first.another('old')
const gone = await first.another('old')
const stays = await first.another('other')
const stranger = await createAccess(gateway, 'paid', 'old')
await first.managed('service_deleteEndpoint', [{ endpointId: gone.endpointId }])
await first.managed('service_updateEndpoint', [
  { endpointId: second.endpointId, name: 'mine', status: 'inactive' },
])
await first.post(body)

const move = (...args: string[]) => run(['endpoint', 'move', ...args, '--config', gateway.dir])
const listed = async (accountId: string): Promise<unknown[]> => {
  const { endpoints } = await runJson(gateway.dir, ['endpoint', 'list', '--account', accountId])
  const all: Record<string, unknown>[] = endpoints
  return all.map(each => [each['chain'], each['apiKey'], each['status'], each['name'] === 'mine'])
}

t.test('what cannot be is refused, and moves nothing', async t => {
  const before = await listed(first.accountId)
  const cases: [args: string[], code: number, said: RegExp][] = [
    [['--from', 'old', '--to', 'othre'], 1, /there is no network "othre"; did you mean "other"\?/],
    [['--from', 'old', '--to', 'sol'], 1, /old is of the family evm and sol of solana/],
    [['--from', 'odl', '--to', 'other'], 1, /there is no endpoint on "odl"; did you mean "old"\?/],
    [['--from', 'nowhere', '--to', 'other'], 1, /there is no endpoint on "nowhere"/],
    [['--from', 'old', '--to', 'other', '--account', 'acc_nobody'], 1, /there is no account "acc_nobody"/],
    [['--from', 'old', '--to', 'old'], 2, /are the same network/],
    [['--from', 'old'], 2, /--to is missing/],
    [['--to', 'old'], 2, /--from is missing/],
  ]
  for (const [args, code, said] of cases) {
    const ended = await move(...args)
    t.equal(ended.code, code, args.join(' '))
    t.match(ended.stderr, said)
    t.equal(ended.stdout, '')
  }
  t.strictSame(await listed(first.accountId), before)
})

t.test('those of one account move, and the running gateway serves them', async t => {
  const { code, stdout } = await move('--from', 'old', '--to', 'other', '--account', first.accountId)
  t.strictSame([code, stdout], [0, `2 endpoints of ${first.accountId} moved from old to other\n`])
  t.strictSame(await listed(first.accountId), [
    ['other', first.key, 'active', false],
    ['other', second.key, 'inactive', true],
    ['other', stays.key, 'active', false],
  ])
  await until('the gateway has seen it', async () => (await first.on('other').post(body)).status === 200)
  t.match(
    await first.post(body),
    { status: 403, text: /"reason":"wrong_network"/ },
    'and no longer where they were',
  )
  t.equal((await stranger.post(body)).status, 200, 'those of another account stay')
})

t.test('a network that was renamed', async t => {
  for (const file of ['networks.yaml', 'routes.yaml']) {
    const path = join(gateway.dir, file)
    const text = await readFile(path, 'utf8')
    await writeFile(path, text.replace(/\bold:/, 'new:').replace('network: old', 'network: new'))
  }
  gateway.signal('SIGHUP')
  const fresh = stranger.on('new')
  await until('it is served', async () => (await fresh.post(body)).status === 403)
  const list = ['endpoint', 'list', '--account', stranger.accountId]
  t.match((await run([...list, '--config', gateway.dir])).stdout, / {2}old +network removed +1\n/)
  t.match(await runJson(gateway.dir, list), { endpoints: [{ status: 'active', httpsUrl: '' }] })
  const moved = await runJson(gateway.dir, ['endpoint', 'move', '--from', 'old', '--to', 'new'])
  t.strictSame(moved, { from: 'old', to: 'new', moved: 1 }, 'the family of what is gone is not asked for')
  await until('it is served under its key', async () => (await fresh.post(body)).status === 200)
  const usage = await runJson(gateway.dir, ['usage', '--account', stranger.accountId])
  t.strictSame(
    // Until the gateway has noticed, calls are refused.
    new Set(usage.flatMap(({ network, method, calls }: any) => (calls > 0 ? [`${network} ${method}`] : []))),
    new Set(['old web3_sha3', 'new web3_sha3']),
    'usage so far stays where it was, and what comes is not added to it',
  )
  t.equal((await move('--from', 'old', '--to', 'new')).code, 1, 'none is left')
})
