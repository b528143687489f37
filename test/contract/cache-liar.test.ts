/** A route that reports a wrong final block, among three that serve. */
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { answerBlocks, type FinalState } from '../support/final-node.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'

const chainId = 1001
const head = 0x1000
const final = 0xf00
const states: FinalState[] = [{ final }, { final: final - 2 }, { final: head }]
const nodes = await Promise.all(states.map(() => startNode(t, { chainId, head })))
for (const [i, node] of nodes.entries()) answerBlocks(node, states[i]!)
const gateway = await startGateway(t, {
  networks: { alpha: { chainId } },
  routes: nodes.map(({ url }, i) => ({
    id: `alpha-${i}`,
    network: 'alpha',
    http: url,
    capabilities: ['archive'],
    // All calls go to the one that lies.
    priority: i === 2 ? 1 : 2,
  })),
  gateway: { cache: {} },
})

t.test(
  'it makes no block final that no other route says is, and none of its answers about one is kept',
  async t => {
    const access = await createAccess(gateway, 'paid', 'alpha')
    await metricIs(gateway, 'tollgate_network_final', { network: 'alpha' }, final)
    const liar = nodes[2]!.on('eth_getBalance', result('"0x1"'))
    const askedTwice = async (block: number): Promise<number> => {
      const before = liar.count('eth_getBalance')
      for (let n = 0; n < 2; n += 1) await access.call('eth_getBalance', ['0x01', `0x${block.toString(16)}`])
      return liar.count('eth_getBalance') - before
    }
    t.equal(await askedTwice(final + 1), 2, 'what it alone calls final is asked for again')
    t.equal(await askedTwice(final), 1, 'what two call final is kept')
    t.equal(await metric(gateway, 'tollgate_network_final', { network: 'alpha' }), final)
    t.equal(await metric(gateway, 'tollgate_cache_resets_total'), 0)
  },
)
