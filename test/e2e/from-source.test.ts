import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startNode } from '../support/scripted-node.ts'

// What the program is, is read when the support is loaded.
process.env['TOLLGATE_MAIN'] = join(import.meta.dirname, '../../bench/parts/source-main.mjs')
const { startGateway } = await import('../support/gateway.ts')

t.test('the program runs from src/: calls, edits, and sums of usage', async t => {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  })
  const access = await createAccess(gateway, 'paid', 'alpha')
  t.match(await access.call('eth_blockNumber'), { result: /^"?0x/ })
  const file = join(gateway.dir, 'plans.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/perSecond: \d+/, 'perSecond: 77'))
  t.equal((await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })).status, 200)
  t.match(await gateway.status(), { reload: { ok: true } })
  const { result } = (await access.call('service_usage', [{ by: 'hour' }])) as { result: { rows: unknown } }
  t.match(result.rows, [{ network: 'alpha', method: 'eth_blockNumber', calls: 1 }])
  t.notMatch(gateway.printed, /Unknown file extension/)
})
