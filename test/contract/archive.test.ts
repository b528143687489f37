import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { observe } from '../support/observe.ts'
import { refused } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'

const chainId = 1001
const node = await startNode(t, { chainId, head: 0x1000 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId }, rich: { chainId } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, capabilities: ['debug'] },
    { id: 'rich-a', network: 'rich', http: node.url, capabilities: ['archive'] },
  ],
})

t.test('state older than the routes keep needs an archive', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const rich = await access.another('rich')
  await gateway.headKnown('alpha')
  await gateway.headKnown('rich')
  const address = `0x${'ab'.repeat(20)}`
  const old: [method: string, params: unknown[]][] = [
    ['eth_getBalance', [address, '0x1']],
    ['eth_getBalance', [address, 'earliest']],
    ['eth_getBalance', [address, { blockNumber: '0x1' }]],
    ['eth_getCode', [address, '0xf00']],
    ['eth_getStorageAt', [address, '0x0', '0x1']],
    ['eth_getTransactionCount', [address, '0x1']],
    ['eth_getProof', [address, [], '0x1']],
    ['eth_call', [{ to: address }, '0x1']],
    ['debug_traceCall', [{ to: address }, '0x1', { tracer: 'callTracer' }]],
    ['debug_traceBlockByNumber', ['0x1']],
  ]
  const seen = await observe(access, node, async () => {
    for (const [method, params] of old)
      refused(t, await access.post(message(method, params)), {
        reason: 'capability_missing',
        id: '1',
        data: { capability: 'archive' },
      })
  })
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
  const recent: [method: string, params: unknown[]][] = [
    ['eth_getBalance', [address]],
    ['eth_getBalance', [address, 'latest']],
    ['eth_getBalance', [address, 'pending']],
    ['eth_getBalance', [address, '0xfff']],
    ['eth_call', [{ to: address }]],
    ['eth_getLogs', [{ fromBlock: '0x1', toBlock: '0x2' }]],
  ]
  for (const [method, params] of recent)
    t.strictSame(await access.call(method, params), { jsonrpc: '2.0', id: 1, result: 'ok' }, method)
  t.strictSame(await rich.call('eth_getBalance', [address, '0x1']), { jsonrpc: '2.0', id: 1, result: 'ok' })
})
