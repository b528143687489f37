/** A transaction that one worker has sent is found by the others, where it was sent. */
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { resetBeforeReply, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'
import { crewOf } from '../support/workers.ts'

/** Connections one behind the other, which go to both workers in turn. */
const CONNECTIONS = 20

const chainId = 1001
const someone = `0x${'1'.repeat(40)}`
const hash = `0x${'ab'.repeat(32)}`
const [near, far] = [await startNode(t, { chainId }), await startNode(t, { chainId })]
near.on('eth_sendRawTransaction', resetBeforeReply).on('eth_getTransactionReceipt', result('null'))
far.on('eth_sendRawTransaction', result(`"${hash}"`))
// Not in a block yet: nothing shows that the other node is behind.
far.on('eth_getTransactionReceipt', result(`{"transactionHash":"${hash}","blockNumber":null}`))
near.on('eth_getBalance', result('"0x1000"'))
far.on('eth_getBalance', result('"0x1001"'))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId } },
  routes: [
    { id: 'near', network: 'alpha', http: near.url },
    { id: 'far', network: 'alpha', http: far.url, priority: 2 },
  ],
  gateway: { workers: { count: 2, balance: 'roundRobin' } },
})
const access = await createAccess(gateway, 'paid', 'alpha')
await crewOf(gateway, 2)
await gateway.headKnown('alpha')

t.test('it is found over every connection, and what its receipt shows is a floor', async t => {
  t.equal((await access.call('eth_sendRawTransaction', ['0x02f8'])).result, hash)
  await until('no connection leads to a worker that knows nothing of it', async () => {
    for (let n = 0; n < CONNECTIONS; n += 1)
      if ((await access.call('eth_getTransactionReceipt', [hash])).result === null) return false
    return true
  })
  far.on('eth_getTransactionReceipt', result(`{"transactionHash":"${hash}","blockNumber":"0x1001"}`))
  await access.call('eth_getTransactionReceipt', [hash])
  await until('no connection leads to an older block than it is in', async () => {
    for (let n = 0; n < CONNECTIONS; n += 1)
      if ((await access.call('eth_getBalance', [someone, 'latest'])).result !== '0x1001') return false
    return true
  })
})
