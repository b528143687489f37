import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { echo, hang, held } from '../support/node-replies.ts'
import { refused } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { openSocket } from '../support/tcp.ts'

const chainId = 1001
const options = (url: string, drain: string) => ({
  networks: { alpha: { chainId } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: url }],
  methods: fewMethods,
  gateway: { timeouts: { drain, drainIdle: '200ms' } },
})

t.test('SIGTERM: what is in flight is answered, idle connections close, exit 0', async t => {
  const gate = new Gate()
  const node = (await startNode(t, { chainId })).on('web3_sha3', held(gate, echo))
  const gateway = await startGateway(t, options(node.url, '20s'))
  const access = await createAccess(gateway, 'paid', 'alpha')
  const idle = await openSocket(gateway.port)
  const calls = Array.from({ length: 20 }, (_, n) => access.post(message('web3_sha3', [`0x${n}`])))
  await node.arrived('web3_sha3', 20)
  gateway.signal('SIGTERM')
  await new Promise(resolve => idle.once('close', resolve).resume())
  gate.open()
  const replies = await Promise.all(calls)
  t.strictSame(new Set(replies.map(({ status }) => status)), new Set([200]))
  t.strictSame(await gateway.exited, { code: 0, signal: null })
})

t.test('what outlasts the drain gets an explicit 503, and is not charged', async t => {
  const node = (await startNode(t, { chainId })).on('web3_sha3', hang).on('eth_gasPrice', echo)
  const gateway = await startGateway(t, options(node.url, '300ms'))
  const access = await createAccess(gateway, 'paid', 'alpha')
  t.equal((await access.post(message('eth_gasPrice'))).status, 200)
  const stuck = access.post(message('web3_sha3', ['0x00']))
  await node.arrived('web3_sha3', 1)
  gateway.signal('SIGTERM')
  refused(t, await stuck, { reason: 'no_route', id: '1' })
  t.strictSame(await gateway.exited, { code: 0, signal: null })
  await gateway.start()
  t.strictSame(await access.usage(), { requests: 1, calls: 1 })
})
