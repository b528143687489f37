import { once } from 'node:events'
import { request } from 'node:http'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { allCapabilities } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'

const chainId = 1001
const node = await startNode(t, { chainId })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, capabilities: allCapabilities }],
})

t.test('a heavy call whose client leaves is ended at the node, and charged', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  let ended: Promise<unknown> | undefined
  node.on('debug_traceTransaction', (_, response) => {
    ended = once(response, 'close')
  })
  const { port, path } = { port: gateway.port, path: access.path }
  const client = request({ port, path, method: 'POST', headers: { 'content-type': 'application/json' } })
  client.on('error', () => undefined)
  client.end(message('debug_traceTransaction', [`0x${'ab'.repeat(32)}`]))
  await node.arrived('debug_traceTransaction', 1)
  client.destroy()
  await ended
  t.strictSame(await access.usage(), { requests: 5, calls: 1 })
  t.equal(node.count('debug_traceTransaction'), 1, 'and not tried again')
})
