/** A provider may close a whole socket for the params of one subscribe call: the subscriptions of others share that socket. */
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { LogReader } from '../support/log-lines.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

const chainId = 1001
const FILTERED = '<script>'
const chains = [new ScriptedChain(), new ScriptedChain()]
const [first, second] = await Promise.all(chains.map(chain => startSocketNode(t, { chainId, chain })))
for (const node of [first!, second!])
  node.onSubscribe(({ params }) => (params.includes(FILTERED) ? 'cut' : 'accept'))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: first!.url, ws: first!.wsUrl },
    { id: 'alpha-b', network: 'alpha', http: second!.url, ws: second!.wsUrl, priority: 2 },
  ],
  gateway: { log: { level: 'info' } },
})
await gateway.headKnown('alpha')
const mine = () => chains.map(chain => chain.mine()).at(-1)!

t.test(
  'a stranger whose subscribe calls cut sockets costs the others one, and no route its turn',
  async t => {
    const [bystander, stranger] = [
      await openClient(t, await createAccess(gateway, 'paid', 'alpha')),
      await openClient(t, await createAccess(gateway, 'paid', 'alpha')),
    ]
    const heads = await bystander.subscribe('eth_subscribe', ['newHeads'])
    const blocks = [mine()]
    await bystander.notified(heads, 1)
    let cuts = 0
    const cut = async () => {
      const reply = await stranger.call('eth_subscribe', ['logs', { topics: [`${FILTERED}${(cuts += 1)}`] }])
      t.match(reply, { error: { data: { reason: 'upstream_error' } } })
    }
    await cut()
    await first!.when('the subscription is back', () => first!.live('eth_subscribe', 'newHeads').length === 1)
    const [carried] = first!.live('eth_subscribe', 'newHeads')
    for (let i = 0; i < 5; i += 1) {
      await cut()
      blocks.push(mine())
      await bystander.notified(heads, blocks.length)
    }
    t.ok(carried!.alive, 'its subscription stays on its socket')
    t.strictSame(
      bystander.notifications(heads).map(({ hash }) => String(hash)),
      blocks.map(({ hash }) => hash),
      'every block, once and in order',
    )
    t.equal(second!.live().length, 0, 'and on its route')
    t.equal(bystander.over, undefined)
    const harmless = await stranger.subscribe('eth_subscribe', ['newHeads'])
    blocks.push(mine())
    t.equal(
      (await stranger.notified(harmless, 1)).length,
      1,
      'what the stranger subscribes to besides is carried',
    )
    const logged = new LogReader(gateway).all().filter(({ msg }) => /socket/i.test(msg))
    t.same(logged, [], 'the log says nothing against a route')
  },
)
