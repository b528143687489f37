/** Filters by the role that a row gives a method, whatever its name. */
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

const node = await startNode(t)
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: `families:
  evm:
    watch_begin: { params: [0, 0], sticky: create }
    watch_read: { params: [1, 1], sticky: use }
    watch_end: { params: [1, 1], sticky: end, cost: 0 }
`,
})
const access = await createAccess(gateway, 'paid', 'alpha')
node.on('watch_begin', result('"0x7"')).on('watch_read', result('["0x1"]')).on('watch_end', result('true'))

t.test('the method whose row says end is the last that takes the id', async t => {
  const { result: id } = await access.call('watch_begin')
  t.match(await access.call('watch_read', [id]), { result: ['0x1'] })
  t.match(await access.call('watch_end', [id]), { result: true })
  t.equal(node.requests.at(-1)?.params, '["0x7"]', 'the node knows its own id')
  t.match(await access.call('watch_end', [id]), { result: false })
  t.match(await access.call('watch_read', [id]), { error: { message: 'filter not found' } })
  t.equal(node.count('watch_end'), 1)
})
