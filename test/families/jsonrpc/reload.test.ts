/** What a network asks of its nodes is edited while it is served. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { createAccess } from '../../support/accounts.ts'
import { bitcoinMethods, GENESIS, likeBitcoind, result1 } from '../../support/bitcoind.ts'
import { run } from '../../support/cli.ts'
import { startGateway } from '../../support/gateway.ts'
import { routesOf } from '../../support/route-status.ts'
import { startNode } from '../../support/scripted-node.ts'
import { until } from '../../support/until.ts'

const node = likeBitcoind(await startNode(t), 900_000).on('getblock', result1('"00"'))
const gateway = await startGateway(t, {
  networks: {
    bitcoin: {
      family: 'jsonrpc',
      chainId: 'bitcoin',
      head: { method: 'getblockcount' },
      identity: { method: 'getblockhash', params: [0], equals: GENESIS },
    },
  },
  routes: [{ id: 'a', network: 'bitcoin', http: node.url }],
  methods: bitcoinMethods,
})
await gateway.headKnown('bitcoin')
const access = await createAccess(gateway, 'paid', 'bitcoin')
const route = async () => (await routesOf(gateway))[0]!

async function edit(from: string, to: string): Promise<string> {
  const file = join(gateway.dir, 'networks.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replaceAll(from, to))
  const { code, stdout, stderr } = await run(['reload', '--config', gateway.dir])
  t.equal(code, 0, stderr)
  return stdout
}

t.test('another identity is asked at once', async t => {
  t.match(await access.call('getblock', ['x']), { result: '00' })
  await edit(GENESIS, '1'.repeat(63) + 'a')
  await until('the route is shut out', async () => ((await route()).why ?? '').includes('another chain'))
  t.match(await access.call('getblock', ['x']), { error: { data: { reason: 'no_route' } } })
  await edit('1'.repeat(63) + 'a', GENESIS)
  await until('it serves again', async () => (await access.call('getblock', ['x'])).result === '00')
})

t.test('another question for the head is asked at once', async t => {
  node.on('getheight', result1('"0xdbba1"'))
  await edit('method: getblockcount', 'method: getheight')
  await until('its answer is known', async () => (await route()).head === 0xdbba1)
  t.pass()
})
