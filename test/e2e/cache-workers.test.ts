/** A purge reaches the cache of every worker. */
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

const chainId = 1001
const node = (await startNode(t, { chainId })).on('web3_sha3', result('"0x1"'))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  gateway: { workers: { count: 2, balance: 'roundRobin' }, cache: {} },
})
const access = await createAccess(gateway, 'paid', 'alpha')

t.test('two workers keep two caches, and one purge empties both', async t => {
  for (let i = 0; i < 8; i += 1) t.match(await access.call('web3_sha3', ['0x00']), { result: '0x1' })
  t.equal(node.count('web3_sha3'), 2, 'once for each worker')
  t.equal(await metric(gateway, 'tollgate_cache_entries'), 2)
  const purged = await run(['cache', 'purge', '--route', 'alpha-a', '--config', gateway.dir, '--json'])
  t.strictSame(JSON.parse(purged.stdout), { purged: 2 })
  for (let i = 0; i < 8; i += 1) await access.call('web3_sha3', ['0x00'])
  t.equal(node.count('web3_sha3'), 4)
})
