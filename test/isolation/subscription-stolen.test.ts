import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { startSocketNode, type SocketRequest } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

/** Agave: equal subscriptions of one connection have one id, and one unsubscribe ends it for all of them. */
const node = await startSocketNode(t)
const ids = new Map<string, string>()
const meaning = ({ method, params }: SocketRequest) =>
  `${method} ${params.replace(',{"commitment":"finalized"}', '').replace('"legacy"', '"all"')}`
node.onSubscribe(request => {
  const key = meaning(request)
  if (!ids.has(key)) ids.set(key, String(70 + ids.size))
  return { id: ids.get(key)! }
})
const gateway = await startGateway(t, {
  networks: { sol: { family: 'solana', chainId: 'solana-stolen' } },
  routes: [{ id: 'sol-a', network: 'sol', http: node.url, ws: node.wsUrl }],
})
const owner = await createAccess(gateway, 'paid', 'sol')
const stranger = await createAccess(gateway, 'paid', 'sol')
const log = (slot: number) => JSON.stringify({ context: { slot }, value: { logs: [] } })
const subscribeCalls = () => node.socketRequests.filter(({ method }) => method === 'logsSubscribe').length
const unsubscribeCalls = () => node.socketRequests.filter(({ method }) => method === 'logsUnsubscribe').length

t.test('a default that is spelled out takes no messages from whoever left it out', async t => {
  const [mine, theirs] = [await openClient(t, owner), await openClient(t, stranger)]
  const first = await mine.subscribe('logsSubscribe', ['all'])
  const second = await theirs.subscribe('logsSubscribe', ['all', { commitment: 'finalized' }])
  t.equal(node.push('logsSubscribe', log(1)), 1, 'the node has one subscription')
  t.equal((await mine.notified(first, 1)).length, 1)
  t.equal((await theirs.notified(second, 1)).length, 1)
  t.equal(subscribeCalls(), 1, 'equal in meaning is asked for once')
  for (const client of [mine, theirs]) await client.close()
})

t.test('two that the node alone takes for equal both hear, and leave one by one', async t => {
  const [mine, theirs] = [await openClient(t, owner), await openClient(t, stranger)]
  const first = await mine.subscribe('logsSubscribe', [{ mentions: ['all'] }])
  const second = await theirs.subscribe('logsSubscribe', [{ mentions: ['legacy'] }])
  node.push('logsSubscribe', log(2), ({ params }) => params.includes('mentions'))
  await mine.notified(first, 1)
  await theirs.notified(second, 1)
  const before = unsubscribeCalls()
  t.match(await theirs.call('logsUnsubscribe', [Number(second)]), { result: true })
  // The stranger's is kept for a while; what ends it is a plan that has no room for more than one.
  t.equal(unsubscribeCalls(), before)
  node.push('logsSubscribe', log(3), ({ params }) => params.includes('mentions'))
  t.equal((await mine.notified(first, 2)).length, 2)
  t.equal(theirs.notifications(second).length, 1)
  for (const client of [mine, theirs]) await client.close()
})
