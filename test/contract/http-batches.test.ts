import t from 'tap'
import { Gate } from '../support/gate.ts'
import { echo, held, result } from '../support/node-replies.ts'
import { observe } from '../support/observe.ts'
import { rawItems } from '../support/raw-json.ts'
import { commonHeaders, refused, refusedItem, type Reason } from '../support/refusals.ts'
import { startBench } from './message-bench.ts'

const { nodes, access: create } = await startBench(t)
const access = await create('evm')
const node = nodes.evm
node.on('web3_sha3', echo)

const call = (id: string, method = 'web3_sha3', params = '["0x00"]') =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
const notification = (method = 'web3_sha3', params = '["0x00"]') =>
  `{"jsonrpc":"2.0","method":"${method}","params":${params}}`
const batch = (...items: string[]) => `[${items.join(',')}]`
const send = (body: string) => observe(access, node, () => access.post(body))

t.test('answers come in the order of the calls, whatever order the node answers in', async t => {
  const gates = Array.from({ length: 10 }, () => new Gate())
  node.on('web3_sha3', async (request, response) => {
    const [index] = JSON.parse(request.params) as [number]
    await gates[index]!.pass()
    result(String(index))(request, response)
  })
  const before = node.count('web3_sha3')
  const sending = send(batch(...gates.map((_, i) => call(`"${i}"`, 'web3_sha3', `[${i}]`))))
  await node.arrived('web3_sha3', before + 10)
  for (const gate of gates.toReversed()) gate.open()
  const { value, requests, calls } = await sending
  t.equal(value.status, 200)
  commonHeaders(t, value)
  t.strictSame(
    JSON.parse(value.text),
    gates.map((_, i) => ({ jsonrpc: '2.0', id: String(i), result: i })),
  )
  t.equal(requests, 10)
  t.equal(calls, 10)
  node.on('web3_sha3', echo)
})

t.test('equal ids are each answered, notifications are not', async t => {
  const body = batch(
    call('1', 'web3_sha3', '["a"]'),
    notification(),
    call('1', 'web3_sha3', '["b"]'),
    call('1.0', 'web3_sha3', '["c"]'),
    call('null', 'web3_sha3', '["d"]'),
    notification('nope'),
  )
  const { value, requests, calls, sent } = await send(body)
  t.strictSame(rawItems(value.text), [
    '{"jsonrpc":"2.0","id":1,"result":["a"]}',
    '{"jsonrpc":"2.0","id":1,"result":["b"]}',
    '{"jsonrpc":"2.0","id":1.0,"result":["c"]}',
    '{"jsonrpc":"2.0","id":null,"result":["d"]}',
  ])
  t.equal(sent.length, 5)
  t.equal(requests, 5)
  t.equal(calls, 5)
})

t.test('one call in a batch is answered in an array', async t => {
  const { value } = await send(batch(call('7')))
  t.strictSame(JSON.parse(value.text), [{ jsonrpc: '2.0', id: 7, result: ['0x00'] }])
})

t.test('a batch of notifications is executed and answered by nothing', async t => {
  const { value, requests, calls, sent } = await send(
    batch(notification(), notification('nope'), notification()),
  )
  t.equal(value.status, 204)
  t.equal(value.text, '')
  t.equal(sent.length, 2)
  t.equal(requests, 2)
  t.equal(calls, 2)
})

t.test('a batch of refused notifications is answered by nothing', async t => {
  const { value, requests, sent } = await send(batch(notification('nope'), notification('web3_sha3', '[]')))
  t.equal(value.status, 204)
  t.equal(value.text, '')
  t.same(sent, [])
  t.equal(requests, 0)
})

t.test('refusals stand in their places between answers', async t => {
  const body = batch(
    call('1'),
    call('2', 'nope'),
    '1',
    call('3', 'web3_sha3', '[]'),
    '[]',
    '{"jsonrpc":"1.0","id":4,"method":"web3_sha3"}',
    call('5', 'eth_getBlockReceipts', '["latest"]'),
    batch(call('6')),
  )
  const { value, requests, calls, sent } = await send(body)
  t.equal(value.status, 200)
  const items = rawItems(value.text)
  t.equal(items.length, 8)
  t.strictSame(JSON.parse(items[0]!), { jsonrpc: '2.0', id: 1, result: ['0x00'] })
  const expected: [number, Reason, string][] = [
    [1, 'method_not_found', '2'],
    [2, 'invalid_request', 'null'],
    [3, 'invalid_params', '3'],
    [4, 'invalid_request', 'null'],
    [5, 'invalid_request', '4'],
    [7, 'invalid_request', 'null'],
  ]
  for (const [index, reason, id] of expected) refusedItem(t, items[index]!, { reason, id })
  t.strictSame(JSON.parse(items[6]!), { jsonrpc: '2.0', id: 5, result: 'ok' })
  t.equal(sent.length, 2)
  t.equal(requests, 4)
  t.equal(calls, 2)
})

t.test('an empty batch is refused as one', async t => {
  for (const body of ['[]', ' [ \n] ']) {
    const { value, requests } = await send(body)
    refused(t, value, { reason: 'invalid_request' })
    t.equal(requests, 0)
  }
})

const uniform: [name: string, items: string[], status: number][] = [
  ['all invalid', ['1', '{}', '[]'], 400],
  ['all of no method', [call('1', 'nope'), call('2', 'nope')], 200],
  ['refused for two reasons', ['1', call('2', 'nope')], 200],
  ['invalid beside an answer', ['1', call('2')], 200],
]
for (const [name, items, status] of uniform) {
  t.test(`the status of a batch that is ${name}`, async t => {
    const { value } = await send(batch(...items))
    t.equal(value.status, status)
    t.equal(rawItems(value.text).length, items.length)
  })
}

t.test('a batch longer than the plan allows is refused item by item, and nothing is forwarded', async t => {
  const items = Array.from({ length: 101 }, (_, i) => (i % 10 === 9 ? notification() : call(`"${i}"`)))
  const { value, requests, sent } = await send(batch(...items))
  t.equal(value.status, 200)
  const ids = items.flatMap((item, i) => (item.includes('"id"') ? [`"${i}"`] : []))
  const replies = rawItems(value.text)
  t.equal(replies.length, ids.length)
  for (const [i, id] of ids.entries()) refusedItem(t, replies[i]!, { reason: 'batch_too_large', id })
  t.same(sent, [])
  t.equal(requests, 0)
})

t.test('a batch as long as the plan allows is answered', async t => {
  const { value, requests, calls } = await send(
    batch(...Array.from({ length: 100 }, (_, i) => call(String(i)))),
  )
  t.strictSame(
    (JSON.parse(value.text) as { id: number }[]).map(({ id }) => id),
    Array.from({ length: 100 }, (_, i) => i),
  )
  t.equal(requests, 100)
  t.equal(calls, 100)
})

t.test('a batch of 1000 is refused item by item, one of 1001 as a whole', async t => {
  const of = (length: number) => batch(...Array.from({ length }, (_, i) => call(String(i))))
  const thousand = await send(of(1000))
  t.equal(thousand.value.status, 200)
  const items = rawItems(thousand.value.text)
  t.equal(items.length, 1000)
  for (const at of [0, 999]) refusedItem(t, items[at]!, { reason: 'batch_too_large', id: String(at) })
  t.same(thousand.sent, [])
  const more = await send(of(1001))
  refused(t, more.value, { reason: 'batch_too_large' }, 413)
  t.same(more.sent, [])
  t.equal(more.requests, 0)
  const endless = await send(`${of(1001).slice(0, -1)},${'1,'.repeat(1_000_000)}`)
  refused(t, endless.value, { reason: 'batch_too_large' }, 413)
  t.equal(endless.requests, 0)
})

t.test('a batch of notifications that is too long is answered by nothing and not executed', async t => {
  const { value, requests, sent } = await send(batch(...Array.from({ length: 101 }, () => notification())))
  t.equal(value.status, 204)
  t.same(sent, [])
  t.equal(requests, 0)
})

t.test('at most 32 calls of a batch are in flight', async t => {
  const gate = new Gate()
  const before = node.count('eth_getBlockReceipts')
  const arrived = () => node.count('eth_getBlockReceipts') - before
  // Whatever the gateway had sent at the same time would have arrived before these are answered.
  const otherCalls = async () => {
    for (let i = 0; i < 5; i++) t.equal((await access.post(call('1'))).status, 200)
  }
  node.on('eth_getBlockReceipts', held(gate, echo))
  const items = Array.from({ length: 100 }, (_, i) => call(String(i), 'eth_getBlockReceipts', '["latest"]'))
  const sending = access.post(batch(...items))
  await node.arrived('eth_getBlockReceipts', before + 32)
  await otherCalls()
  t.equal(arrived(), 32)
  for (const more of [33, 34]) {
    gate.releaseOne()
    await node.arrived('eth_getBlockReceipts', before + more)
    await otherCalls()
    t.equal(arrived(), more)
  }
  gate.open()
  t.equal(rawItems((await sending).text).length, 100)
})
