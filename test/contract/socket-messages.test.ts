import t, { type Test } from 'tap'
import type { Access } from '../support/access.ts'
import { Gate } from '../support/gate.ts'
import { echo, held, result } from '../support/node-replies.ts'
import { Watch } from '../support/observe.ts'
import { rawItems } from '../support/raw-json.ts'
import { refusedItem } from '../support/refusals.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'
import { startBench } from './message-bench.ts'
import { brokenBodies, brokenTexts, messageCases, type MessageCase } from './message-cases.ts'
import { holdBetween, holdReply, holdTraces, sibling, siblings } from './message-expectations.ts'

const frameLimit = 1024 * 1024
const bench = await startBench(t, { limits: { body: '1MiB', wsReply: '2MiB', batchReply: '2MiB' } })
const watches = { evm: new Watch(() => bench.access('evm')), solana: new Watch(() => bench.access('solana')) }

/** The socket that stays open for an account, for as long as the account is in use. */
const clients = new Map<Access, Promise<SocketClient>>()
async function clientOf(access: Access): Promise<SocketClient> {
  const known = clients.get(access) ?? openClient(t, access)
  clients.set(access, known)
  return known
}

const brackets = { evm: sibling('evm', 'end'), solana: sibling('solana', 'end') }
const bracketReply = { jsonrpc: '2.0', id: 'end', result: 'sibling' }

/**
 * Scripts the node for a case and sends a frame, and after what it leads to a call whose answer shows that nothing else
 * came: gives the frames in between with all their traces.
 */
async function send(
  body: string | Buffer,
  { family, node, expect }: MessageCase,
  answers: number,
  extra = 0,
) {
  const { [family]: scripted } = bench.nodes
  scripted.otherwise(node ?? result('"ok"')).on(siblings[family], result('"sibling"'))
  const reached = extra + (expect.kind !== 'refusal' && expect.sent !== null ? 1 : 0)
  const before = scripted.calls.length
  return watches[family].observe(scripted, async access => {
    const client = await clientOf(access)
    client.send(body)
    const frames = []
    for (let i = 0; i < answers; i++) frames.push(await client.next())
    await until('what is executed has reached the node', () =>
      Promise.resolve(scripted.calls.length >= before + reached),
    )
    client.send(brackets[family])
    const end = await client.next()
    return { frames, end }
  })
}

for (const one of messageCases.filter(({ transport }) => transport !== 'http')) {
  t.test(`frame: ${one.name}`, async t => {
    const answers = one.expect.kind === 'silence' ? 0 : 1
    const seen = await send(one.body, one, answers)
    t.strictSame(JSON.parse(seen.value.end), bracketReply, 'nothing else was sent')
    for (const frame of seen.value.frames) holdReply(t, frame, one)
    holdTraces(t, seen, one, 1)
  })
}

for (const one of messageCases.filter(({ transport }) => transport !== 'http')) {
  t.test(`item of a batch frame: ${one.name}`, async t => {
    const body = `[${sibling(one.family, 'left')},${one.body},${sibling(one.family, 'right')}]`
    const seen = await send(body, one, 1, 2)
    t.strictSame(JSON.parse(seen.value.end), bracketReply, 'nothing else was sent')
    holdBetween(t, rawItems(seen.value.frames[0]!), one)
    holdTraces(t, seen, one, 3)
  })
}

/** An account whose socket the rest of this file uses. */
const access = await bench.access('evm')
const node = bench.nodes.evm
const isText = (bytes: Buffer) => {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}

/** Sends frames that must all be refused as a whole, and cost nothing. */
async function refusedWhole(t: Test, frames: readonly (string | Buffer)[], reason: 'parse_error') {
  const seen = await watches.evm.observe(node, async watched => {
    const client = await clientOf(watched)
    const replies = []
    for (const frame of frames) replies.push(await client.exchange(frame))
    return replies
  })
  for (const reply of seen.value) refusedItem(t, reply, { reason })
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
}

t.test('text that is no JSON is refused with one error object', async t => {
  const texts = brokenBodies.filter(({ bytes }) => isText(bytes))
  t.ok(texts.length > 30)
  await refusedWhole(
    t,
    texts.map(({ bytes }) => bytes),
    'parse_error',
  )
})

t.test('one broken item makes the whole batch a parse_error', async t => {
  const batches = brokenTexts.map(text => `[${sibling('evm', 'left')},${text},${sibling('evm', 'right')}]`)
  await refusedWhole(t, batches, 'parse_error')
})

t.test('text that is not UTF-8 closes 1007', async t => {
  const bodies = brokenBodies.filter(({ bytes }) => !isText(bytes))
  t.ok(bodies.length >= 5)
  const before = node.calls.length
  for (const { name, bytes } of bodies) {
    const client = await openClient(t, access)
    client.send(bytes)
    t.equal((await client.closedBy(name)).code, 1007, name)
    t.same(client.frames, [])
  }
  t.equal(node.calls.length, before)
})

t.test('a binary frame closes 1003, whatever it holds', async t => {
  const before = node.calls.length
  for (const bytes of [Buffer.from(brackets.evm), Buffer.alloc(0), Buffer.from([0xff, 0])]) {
    const client = await openClient(t, access)
    client.socket.send(bytes, { binary: true })
    t.equal((await client.closedBy('a binary frame')).code, 1003)
    t.same(client.frames, [])
  }
  t.equal(node.calls.length, before)
})

t.test('a frame of the longest length is read, one byte more closes 1009', async t => {
  node.on(siblings.evm, result('"sibling"'))
  const client = await openClient(t, access)
  const longest = brackets.evm + ' '.repeat(frameLimit - brackets.evm.length)
  t.strictSame(JSON.parse(await client.exchange(longest)), bracketReply)
  const before = node.calls.length
  client.send(`${longest} `)
  t.equal((await client.closedBy('a long frame')).code, 1009)
  const inPieces = await openClient(t, access)
  inPieces.socket.send(longest.slice(0, 1000), { fin: false })
  inPieces.socket.send(`${longest.slice(1000)} `, { fin: true })
  t.equal((await inPieces.closedBy('a long message in two frames')).code, 1009)
  t.equal(node.calls.length, before)
})

t.test('a message in many frames is one message', async t => {
  const client = await openClient(t, access)
  const body = Buffer.from('{"jsonrpc":"2.0","id":"é☃😀","method":"web3_sha3","params":["é☃😀"]}')
  node.on('web3_sha3', echo)
  for (let at = 0; at < body.length; at++)
    client.socket.send(body.subarray(at, at + 1), { binary: false, fin: at === body.length - 1 })
  t.equal(await client.next(), '{"jsonrpc":"2.0","id":"é☃😀","result":["é☃😀"]}')
})

t.test('a ping is answered, also between calls', async t => {
  const client = await openClient(t, access)
  const gate = new Gate()
  node.on('web3_sha3', held(gate, echo))
  const before = node.count('web3_sha3')
  const reply = client.call('web3_sha3', ['0x00'])
  await node.arrived('web3_sha3', before + 1)
  const pong = new Promise<string>(resolve =>
    client.socket.once('pong', data => {
      resolve(String(data))
    }),
  )
  client.socket.ping('payload')
  t.equal(await pong, 'payload')
  gate.open()
  t.match(await reply, { result: ['0x00'] })
  node.on('web3_sha3', echo)
})

t.test('compression is not negotiated', async t => {
  const client = await openClient(t, access, { perMessageDeflate: true })
  t.equal(client.socket.extensions, '')
  t.strictSame(JSON.parse(await client.exchange(brackets.evm)), bracketReply)
})

t.test('nesting is allowed to 64 levels and refused before anything recursive runs', async t => {
  const nested = (levels: number) =>
    `{"jsonrpc":"2.0","method":"web3_sha3","params":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)},"id":1}`
  node.on('web3_sha3', result('"ok"'))
  const client = await openClient(t, access)
  t.strictSame(JSON.parse(await client.exchange(nested(64))), { jsonrpc: '2.0', id: 1, result: 'ok' })
  for (const body of [nested(65), nested(200_000)])
    refusedItem(t, await client.exchange(body), { reason: 'invalid_request', id: ['null', '1'] })
  t.match(await client.exchange('['.repeat(200_000)), /"reason":"(invalid_request|parse_error)"/)
})

const call = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"web3_sha3","params":["0x00"]}`
const batchOf = (length: number) => `[${Array.from({ length }, (_, i) => call(i)).join()}]`

t.test('a batch longer than the plan allows, and one that nobody may send', async t => {
  const seen = await watches.evm.observe(node, async watched => {
    const client = await clientOf(watched)
    const items = rawItems(await client.exchange(batchOf(101)))
    t.equal(items.length, 101)
    for (const [i, item] of items.entries())
      refusedItem(t, item, { reason: 'batch_too_large', id: String(i) })
    refusedItem(t, await client.exchange(batchOf(1001)), { reason: 'batch_too_large' })
  })
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
  const allowed = await watches.evm.observe(node, async watched =>
    (await clientOf(watched)).exchange(batchOf(100)),
  )
  t.strictSame(
    JSON.parse(allowed.value),
    Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, result: 'ok' })),
  )
  t.equal(allowed.requests, 100)
})

t.test('a batch of notifications is executed and answered by nothing', async t => {
  const silent = '{"jsonrpc":"2.0","method":"web3_sha3","params":["0x00"]}'
  const unknown = '{"jsonrpc":"2.0","method":"nope"}'
  const before = node.count('web3_sha3')
  const seen = await watches.evm.observe(node, async watched => {
    const client = await clientOf(watched)
    client.send(`[${silent},${unknown},${silent}]`)
    client.send(`[${unknown}]`)
    await node.arrived('web3_sha3', before + 2)
    return client.exchange(brackets.evm)
  })
  t.strictSame(JSON.parse(seen.value), bracketReply)
  t.equal(seen.requests, 3)
})

t.test('a reply larger than a socket carries is refused and charged', async t => {
  node.on('eth_getBlockReceipts', result(`"${'a'.repeat(2 * frameLimit)}"`))
  const seen = await watches.evm.observe(node, async watched =>
    (await clientOf(watched)).exchange(
      '{"jsonrpc":"2.0","id":7,"method":"eth_getBlockReceipts","params":["latest"]}',
    ),
  )
  refusedItem(t, seen.value, { reason: 'response_too_large', id: '7' })
  t.equal(seen.requests, 3)
  node.on('eth_getBlockReceipts', result(`"${'a'.repeat(frameLimit)}"`))
  const client = await openClient(t, access)
  t.equal((await client.call('eth_getBlockReceipts', ['latest'])).result.length, frameLimit)
})

t.test('a socket charges the endpoint whose key opened it', async t => {
  const one = await bench.access('evm')
  const other = await one.another('alpha')
  const [first, second] = [await openClient(t, one), await openClient(t, other)]
  for (const client of [first, second, second])
    t.match(await client.call('web3_sha3', ['0x00']), { result: 'ok' })
  t.same(await one.usage(), { requests: 1, calls: 1 })
  t.same(await other.usage(), { requests: 2, calls: 2 })
})
