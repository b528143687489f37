import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { held, result } from '../support/node-replies.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

const chain = new ScriptedChain()
const node = await startSocketNode(t, { chainId: 55, chain })
const rate = { perSecond: 10_000, burst: 10_000 }
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 55 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: fewAndSubscribe,
  plans: {
    ten: {
      tiers: ['any'],
      rate,
      maxBatch: 100,
      quota: { requests: 10, every: '30d' },
      ws: { connections: 10, subscriptions: 10 },
    },
  },
})

t.test('a quota that notifications use up takes no reply from a call in flight', async t => {
  const access = await createAccess(gateway, 'ten', 'alpha')
  const client = await openClient(t, access)
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  const gate = new Gate()
  node.on('eth_getBalance', held(gate, result('"0x7"')))
  const asked = client.call('eth_getBalance', [`0x${'ab'.repeat(20)}`, 'latest'])
  await node.arrived('eth_getBalance', 1)
  for (let i = 0; i < 12; i++) chain.mine()
  await client.notified(heads, 8)
  // The quota is spent, and the gateway has heard of more than it pays for: nothing more is told.
  t.match(await access.call('eth_getBalance', []), { error: {} })
  gate.open()
  t.match(await asked, { result: '0x7' })
  t.match(await client.closedBy('the quota'), { code: 1008, reason: 'quota_exhausted' })
  t.equal(client.notifications(heads).length, 8)
  t.equal((await access.usage()).requests, 10, 'one call, one subscription and eight notifications')
})
