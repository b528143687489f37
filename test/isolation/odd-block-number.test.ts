import t, { type Test } from 'tap'
import { createAccess } from '../support/accounts.ts'
import { result } from '../support/node-replies.ts'
import { someAddress, type ScriptedChain } from '../support/scripted-chain.ts'
import { openClient } from '../support/socket-client.ts'
import { startSocketPairs } from '../support/socket-pairs.ts'

/** What no node should send where a number is expected. */
const oddNumbers = [
  '{"toString":1}',
  '{"toString":1,"valueOf":2}',
  '[{"toString":1}]',
  '[[["0x1"]]]',
  '{"__proto__":{"toString":1}}',
  'null',
  'true',
  '-1',
  '1e400',
  '9007199254740993',
  '"0x"',
  '"-0x1"',
  '""',
  '"latest"',
  `${'['.repeat(9_000)}${']'.repeat(9_000)}`,
]

const slugs = ['heads', 'logs', 'gap-heads', 'gap-logs', 'absurd'] as const
type Slug = (typeof slugs)[number]
const { gateway, pairs } = await startSocketPairs(t, slugs, 500)
const account = await createAccess(gateway, 'paid', 'heads')
const pid = gateway.pid

async function start(t: Test, slug: Slug) {
  const access = slug === 'heads' ? account : await account.another(slug)
  return { ...pairs.get(slug)!, client: await openClient(t, access) }
}

/** Mines the same block on both nodes. */
function mine({ chainA, chainB }: { chainA: ScriptedChain; chainB: ScriptedChain }, data: string) {
  const wishes = [{ data: `0x${Buffer.from(data).toString('hex')}` }]
  chainB.mine(wishes)
  return chainA.mine(wishes)
}

t.test('odd block numbers in newHeads end neither the process nor the subscription', async t => {
  const { a, chainA, client } = await start(t, 'heads')
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  for (const odd of oddNumbers) a.push('eth_subscribe', `{"number":${odd},"hash":"0x1"}`)
  for (const odd of oddNumbers) a.push('eth_subscribe', odd)
  const { hash } = chainA.mine()
  await client.when('the next head', () => client.notifications(heads).some(head => head?.hash === hash))
  t.equal(gateway.pid, pid)
  t.equal(client.over, undefined)
})

t.test('odd block numbers in logs end neither the process nor the subscription', async t => {
  const { a, chainA, client } = await start(t, 'logs')
  const logs = await client.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  for (const odd of oddNumbers) {
    a.push('eth_subscribe', `{"blockNumber":${odd},"blockHash":"0x1","logIndex":"0x0","removed":false}`)
    a.push('eth_subscribe', `{"blockNumber":"0x1","blockHash":${odd},"logIndex":${odd},"removed":${odd}}`)
    a.push('eth_subscribe', odd)
  }
  const { hash } = chainA.mine([{}])
  await client.when('the next log', () => client.notifications(logs).some(log => log?.blockHash === hash))
  t.equal(client.over, undefined)
})

t.test('a node that fills a gap with odd heads ends nothing: it is asked again', async t => {
  const watching = await start(t, 'gap-heads')
  const { a, b, client } = watching
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  const hashes = [mine(watching, '1').hash]
  await client.notified(heads, 1)
  const block = b.handler('eth_getBlockByNumber')!
  const left = [...oddNumbers.map(odd => `{"number":${odd},"hash":"0x1"}`), '"0x1"', '[]', '{}'].slice(0, 3)
  b.on('eth_getBlockByNumber', (request, response) => {
    const odd = request.params.includes('latest') ? left.pop() : undefined
    return (odd === undefined ? block : result(odd))(request, response)
  })
  const closing = a.close()
  hashes.push(mine(watching, '2').hash, mine(watching, '3').hash)
  await closing
  await client.when('the missed heads', () => client.notifications(heads).length >= 3)
  t.strictSame(
    client.notifications(heads).map(({ hash }) => String(hash)),
    hashes,
  )
})

t.test('a node that fills a gap with odd logs ends nothing: it is asked again', async t => {
  const watching = await start(t, 'gap-logs')
  const { a, b, client } = watching
  const logs = await client.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  const hashes = [mine(watching, '1').hash]
  await client.notified(logs, 1)
  const [number, found] = [b.handler('eth_blockNumber')!, b.handler('eth_getLogs')!]
  const odd = ['{"toString":1}', '"0x"', '[]']
  b.on('eth_blockNumber', (request, response) => {
    // The prober of heads asks over HTTP as well: only what is over is answered as usual.
    const next = odd.pop()
    return (next === undefined ? number : result(next))(request, response)
  })
  const oddLogs = ['{"toString":1}', '"[1]"']
  b.on('eth_getLogs', (request, response) => {
    const next = oddLogs.pop()
    return (next === undefined ? found : result(next))(request, response)
  })
  const closing = a.close()
  hashes.push(mine(watching, '2').hash, mine(watching, '3').hash)
  await closing
  await client.when('the missed logs', () => client.notifications(logs).length >= 3)
  t.strictSame(
    client.notifications(logs).map(({ blockHash }) => String(blockHash)),
    hashes,
  )
})

t.test('a head of 2^53 - 1 makes nobody ask for as many blocks', async t => {
  const watching = await start(t, 'absurd')
  const { a, b, client } = watching
  const heads = await client.subscribe('eth_subscribe', ['newHeads'])
  const logs = await client.subscribe('eth_subscribe', ['logs', { address: someAddress }])
  const hashes = [mine(watching, '1').hash]
  a.push('eth_subscribe', '{"number":"0x1fffffffffffff","hash":"0xabsurd"}', one =>
    one.params.includes('newHeads'),
  )
  a.push('eth_subscribe', '{"blockNumber":"0x1fffffffffffff","blockHash":"0xabsurd","logIndex":"0x0"}', one =>
    one.params.includes('logs'),
  )
  await client.notified(heads, 2)
  await client.notified(logs, 2)
  const asked = b.requests.length
  const closing = a.close()
  hashes.push(mine(watching, '2').hash, mine(watching, '3').hash)
  await closing
  for (const [name, id, member] of [
    ['heads', heads, 'hash'],
    ['logs', logs, 'blockHash'],
  ] as const) {
    await client.when(`the missed ${name}`, () => client.notifications(id).length >= 4)
    t.strictSame(
      client.notifications(id).map(one => String(one[member])),
      [hashes[0], '0xabsurd', ...hashes.slice(1)],
      name,
    )
  }
  t.ok(b.requests.length - asked < 300, `${b.requests.length - asked} requests`)
})

t.test('the process is the one that was started, and it has not reported a bug', t => {
  t.equal(gateway.pid, pid)
  t.notMatch(gateway.printed, /internal error/)
  t.end()
})
