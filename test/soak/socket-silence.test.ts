import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { metricIs } from '../support/metrics.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

/** What takes half a minute and more because the contract says so: everything waits at the same time. */
const [lonelyChain, chainA, chainB] = [new ScriptedChain(), new ScriptedChain(), new ScriptedChain()]
const lonely = await startSocketNode(t, { chainId: 1001, chain: lonelyChain })
const a = await startSocketNode(t, { chainId: 1002, chain: chainA })
const b = await startSocketNode(t, { chainId: 1002, chain: chainB })
const mute = await startSocketNode(t, { chainId: 1004 })
const talking = await startSocketNode(t, { chainId: 1004 })
const idleNode = await startSocketNode(t, { chainId: 1003 })
const gateway = await startGateway(t, {
  networks: {
    lonely: { chainId: 1001 },
    pair: { chainId: 1002 },
    idle: { chainId: 1003 },
    mute: { chainId: 1004 },
  },
  routes: [
    { id: 'lonely-a', network: 'lonely', http: lonely.url, ws: lonely.wsUrl },
    { id: 'pair-a', network: 'pair', http: a.url, ws: a.wsUrl, priority: 1 },
    { id: 'pair-b', network: 'pair', http: b.url, ws: b.wsUrl, priority: 2 },
    { id: 'mute-a', network: 'mute', http: mute.url, ws: mute.wsUrl, priority: 1 },
    { id: 'mute-b', network: 'mute', http: talking.url, ws: talking.wsUrl, priority: 2 },
    { id: 'idle-a', network: 'idle', http: idleNode.url, ws: idleNode.wsUrl },
  ],
})
const access = await createAccess(gateway, 'paid', 'lonely')
t.jobs = 5

t.test('when no route comes back within 30 s the client is told to start again', async t => {
  const client = await openClient(t, access)
  const subscription = await client.subscribe('eth_subscribe', ['newHeads'])
  lonelyChain.mine()
  await client.notified(subscription, 1)
  const bystander = await openClient(t, access)
  const since = Date.now()
  await lonely.close()
  t.equal((await client.closedBy('30 s without a route', 60_000)).code, 1012)
  t.ok(Date.now() - since > 25_000, 'not before it was time')
  t.equal(bystander.over, undefined, 'who subscribed to nothing stays')
  t.match(await bystander.call('eth_chainId'), { result: '0x3e9' })
  await lonely.listen()
  const again = await openClient(t, access)
  for (;;) {
    const reply = await again.call('eth_subscribe', ['newHeads'])
    if (reply.result === undefined) {
      await pause(500)
      continue
    }
    const { hash } = lonelyChain.mine()
    t.match(await again.notified(JSON.stringify(reply.result), 1), [{ hash }])
    return
  }
})

t.test('a node that falls silent without closing is left for another one', async t => {
  const client = await openClient(t, await access.another('pair'))
  const subscription = await client.subscribe('eth_subscribe', ['newHeads'])
  const blocks = [chainB.mine(), chainB.mine()]
  chainA.mine()
  chainA.mine()
  await client.notified(subscription, 2)
  a.stall()
  a.announces = false
  for (let i = 0; i < 10; i++) {
    chainA.mine()
    blocks.push(chainB.mine())
  }
  await b.when('the subscription', () => b.live('eth_subscribe').length === 1, 90_000)
  blocks.push(chainB.mine())
  const { hash } = blocks.at(-1)!
  await client.when('the newest head', () =>
    client.notifications(subscription).some(head => head.hash === hash),
  )
  t.strictSame(
    client.notifications(subscription).map(head => String(head.hash)),
    blocks.map(block => block.hash),
  )
  t.equal(client.over, undefined)
})

t.test('a client that answers no ping is cut off, one that does is not', async t => {
  const own = await access.another('idle')
  const dead = await openClient(t, own, { autoPong: false })
  const quiet = await openClient(t, own)
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'idle' }, 2)
  await dead.closedBy('no answer to a ping', 100_000)
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'idle' }, 1)
  t.equal(quiet.over, undefined)
  t.match(await quiet.call('eth_chainId'), { result: '0x3eb' })
})

t.test('a node that never answers a subscribe call is passed over', async t => {
  mute.onSubscribe(() => 'silence')
  const client = await openClient(t, await access.another('mute'))
  client.send(message('eth_subscribe', ['newHeads'], 'patient'))
  await client.when('an answer', () => client.frames.length > 0, 60_000)
  t.match(JSON.parse(client.frames[0]!), { id: 'patient', result: /^0x/ })
  t.equal(talking.live('eth_subscribe').length, 1)
})
