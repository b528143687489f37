import t from 'tap'
import { startAnvil } from './anvil.ts'
import { Gate } from './gate.ts'
import { send } from './http.ts'
import * as replies from './node-replies.ts'
import { rawItems, rawMember, rawMembers } from './raw-json.ts'
import { startNode } from './scripted-node.ts'
import { exchange, statusOf } from './tcp.ts'

const portOf = (url: string) => Number(new URL(url).port)

t.test('raw JSON comes apart without being changed', t => {
  const text = ' { "a" : 1.0 , "b":[ 1e400, {"c":"]\\"}"} ],"\\u0063": "x" } '
  t.strictSame(rawMembers(text), [
    ['a', '1.0'],
    ['b', '[ 1e400, {"c":"]\\"}"} ]'],
    ['c', '"x"'],
  ])
  t.equal(rawMember(text, 'd'), undefined)
  t.strictSame(rawItems('[ 18446744073709551615 ,"a", [1, 2],{} ]'), [
    '18446744073709551615',
    '"a"',
    '[1, 2]',
    '{}',
  ])
  t.strictSame(rawItems('[]'), [])
  t.strictSame(rawMembers('{}'), [])
  t.throws(() => rawItems('{}'))
  t.throws(() => rawMembers('[1'))
  t.end()
})

t.test('a scripted node answers by its script and remembers', async t => {
  const node = await startNode(t, { chainId: 1001, head: 16 })
  const port = portOf(node.url)
  const ask = (method: string, id = '7') =>
    send(port, { path: '/p', body: `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":[ 1.0 ]}` })

  t.equal((await ask('eth_chainId')).text, '{"jsonrpc":"2.0","id":7,"result":"0x3e9"}')
  t.equal((await ask('eth_blockNumber')).text, '{"jsonrpc":"2.0","id":7,"result":"0x10"}')
  node.on('echo', replies.echo).on('fault', replies.error('{"code":3,"message":"no"}'))
  t.equal((await ask('echo', '1.0')).text, '{"jsonrpc":"2.0","id":1.0,"result":[ 1.0 ]}')
  t.equal((await ask('fault')).text, '{"jsonrpc":"2.0","id":7,"error":{"code":3,"message":"no"}}')
  t.equal((await ask('else')).text, '{"jsonrpc":"2.0","id":7,"result":"ok"}')
  t.match(node.calls[0], { method: 'echo', id: '1.0', params: '[ 1.0 ]', verb: 'POST', url: '/p' })
  t.equal(node.calls.length, 3)
  t.equal(node.requests.length, 5)
  t.equal(node.count('echo'), 1)

  node.on('empty', replies.empty).on('html', replies.html).on('broken', replies.brokenJson)
  t.match(await ask('empty'), { status: 200, text: '' })
  t.match(await ask('html'), { status: 200, headers: { 'content-type': 'text/html' } })
  t.match(await ask('broken'), { status: 200, text: '{"jsonrpc":"2.0","id":7,"result":{"a":' })
  node.on('reset', replies.resetBeforeReply).on('cut', replies.resetMidBody).on('close', replies.closeMidBody)
  await t.rejects(ask('reset'))
  await t.rejects(ask('cut'))
  t.match(await ask('close'), { status: 200, text: '{"jsonrpc":"2.0","id":7,"result":"abc' })

  let sent = 0
  node.on(
    'long',
    replies.stream(Buffer.alloc(65536, 'a'), 64, bytes => (sent += bytes)),
  )
  const long = JSON.parse((await ask('long')).text) as { result: string }
  t.equal(long.result.length, sent)
  t.equal(sent, 64 * 65536)

  await node.close()
  await t.rejects(ask('echo'), { code: 'ECONNREFUSED' })
})

t.test('a gate holds calls, and the node counts how many at once', async t => {
  const node = await startNode(t)
  const gate = new Gate()
  node.otherwise(replies.held(gate, replies.result('1')))
  const asked = [1, 2, 3].map(() => send(portOf(node.url), { body: '{"method":"x"}' }))
  await node.arrived('x', 3)
  t.equal(gate.held, 3)
  gate.releaseOne()
  await Promise.race(asked)
  t.equal(gate.held, 2)
  gate.open()
  await Promise.all(asked)
  t.equal(node.peak, 3)
})

t.test('a raw exchange gives what came back', async t => {
  const node = await startNode(t)
  const reply = await exchange(portOf(node.url), 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.equal(statusOf(reply), 200)
  t.equal(statusOf('nonsense'), 0)
})

t.test('anvil starts on a free port, mines and stops', async t => {
  const anvil = await startAnvil(t, ['--chain-id', '4242'])
  t.match(await anvil.call('eth_chainId'), { result: '0x1092' })
  await anvil.mine(5)
  t.match(await anvil.call('eth_blockNumber'), { result: '0x5' })
  await anvil.stop()
  await t.rejects(anvil.call('eth_chainId'))
  t.throws(() => process.kill(anvil.pid, 0), { code: 'ESRCH' })
})
