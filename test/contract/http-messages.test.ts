import t, { type Test } from 'tap'
import { result } from '../support/node-replies.ts'
import { Watch, type Observed } from '../support/observe.ts'
import { rawItems, rawMembers } from '../support/raw-json.ts'
import { commonHeaders, refused, refusedItem } from '../support/refusals.ts'
import { startBench } from './message-bench.ts'
import { brokenBodies, brokenTexts, messageCases, type MessageCase } from './message-cases.ts'

/** Calls that stand around a case in a batch: the node answers each with its name. */
const siblings = { evm: 'eth_maxPriorityFeePerGas', solana: 'getFirstAvailableBlock' } as const
const sibling = (family: MessageCase['family'], id: string) =>
  `{"jsonrpc":"2.0","id":"${id}","method":"${siblings[family]}","params":[]}`

const bench = await startBench(t)
const watches = { evm: new Watch(() => bench.access('evm')), solana: new Watch(() => bench.access('solana')) }

/** Scripts the node for a case, sends the body, and gives the reply with all its traces. */
async function send(body: string, { family, node }: MessageCase) {
  bench.nodes[family].otherwise(node ?? result('"ok"')).on(siblings[family], result('"sibling"'))
  return watches[family].observe(bench.nodes[family], access => access.post(body))
}

/** Holds what reached the node and what was charged against a case. */
function traces(t: Test, seen: Observed<unknown>, { family, expect }: MessageCase, extra = 0): void {
  const sent = seen.sent.filter(({ method }) => method !== siblings[family])
  const expected = expect.kind === 'refusal' || expect.sent === null ? [] : [expect.sent]
  t.strictSame(
    sent.map(({ method, params }) => ({ method, params })),
    expected,
    'what reached the node',
  )
  const cost = expect.kind === 'refusal' ? 0 : expect.cost
  t.equal(seen.requests, cost + extra, 'units charged')
  t.equal(seen.calls, (cost > 0 ? 1 : 0) + extra, 'calls charged')
}

/** Holds one reply object against a case. */
function replyItem(t: Test, text: string, { expect, family }: MessageCase): void {
  if (expect.kind === 'refusal') return void refusedItem(t, text, { family, ...expect })
  if (expect.kind === 'silence') return void t.fail(`should not be answered: ${text}`)
  t.strictSame(
    rawMembers(text).sort(([a], [b]) => (a < b ? -1 : 1)),
    [
      ['id', expect.id],
      ['jsonrpc', '"2.0"'],
      [expect.member, expect.raw],
    ].sort(([a], [b]) => (a! < b! ? -1 : 1)),
    'members of the reply, raw',
  )
}

for (const one of messageCases.filter(({ transport }) => transport !== 'ws')) {
  t.test(`single: ${one.name}`, async t => {
    const seen = await send(one.body, one)
    const { value: reply } = seen
    if (one.expect.kind === 'silence') {
      t.equal(reply.status, 204)
      t.equal(reply.text, '')
    } else if (one.expect.kind === 'refusal') {
      refused(t, reply, { family: one.family, ...one.expect })
    } else {
      t.equal(reply.status, 200)
      commonHeaders(t, reply)
      replyItem(t, reply.text, one)
    }
    traces(t, seen, one)
  })
}

for (const one of messageCases.filter(({ transport }) => transport !== 'ws')) {
  t.test(`batch item: ${one.name}`, async t => {
    const body = `[${sibling(one.family, 'left')},${one.body},${sibling(one.family, 'right')}]`
    const seen = await send(body, one)
    const { value: reply } = seen
    t.equal(reply.status, 200)
    commonHeaders(t, reply)
    const items = rawItems(reply.text)
    const left = items.shift()
    const right = items.pop()
    t.strictSame(JSON.parse(left!), { jsonrpc: '2.0', id: 'left', result: 'sibling' })
    t.strictSame(JSON.parse(right!), { jsonrpc: '2.0', id: 'right', result: 'sibling' })
    t.equal(items.length, one.expect.kind === 'silence' ? 0 : 1, 'how many items between')
    for (const item of items) replyItem(t, item, one)
    traces(t, seen, one, 2)
  })
}

for (const { name, bytes } of brokenBodies) {
  t.test(`no JSON: ${name.slice(0, 200)}`, async t => {
    const seen = await watches.evm.observe(bench.nodes.evm, access => access.post(bytes))
    refused(t, seen.value, { reason: 'parse_error' })
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
  })
}

t.test('one broken item makes the whole batch a parse_error', async t => {
  const seen = await watches.evm.observe(bench.nodes.evm, async access => {
    const replies = []
    for (const broken of brokenTexts)
      replies.push(await access.post(`[${sibling('evm', 'left')},${broken},${sibling('evm', 'right')}]`))
    return replies
  })
  for (const reply of seen.value) refused(t, reply, { reason: 'parse_error' })
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
})

t.test('nesting is allowed to 64 levels and refused before anything recursive runs', async t => {
  const nested = (levels: number) =>
    `{"jsonrpc":"2.0","method":"web3_sha3","params":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)},"id":1}`
  bench.nodes.evm.otherwise(result('"ok"'))
  const seen = await watches.evm.observe(bench.nodes.evm, async access => {
    const allowed = await access.post(nested(64))
    t.strictSame(JSON.parse(allowed.text), { jsonrpc: '2.0', id: 1, result: 'ok' })
    const objects = `${'{"a":'.repeat(70)}1${'}'.repeat(70)}`
    const bodies = [
      nested(65),
      nested(200_000),
      `{"jsonrpc":"2.0","method":"web3_sha3","params":[${objects}],"id":1}`,
      `{"jsonrpc":"2.0","method":"web3_sha3","params":["0x"],"other":${objects},"id":1}`,
    ]
    for (const body of bodies) {
      const reply = await access.post(body)
      refused(t, reply, { reason: 'invalid_request', id: ['null', '1'] })
    }
    for (const body of [`${'['.repeat(200_000)}${']'.repeat(200_000)}`, '['.repeat(200_000)]) {
      const reply = await access.post(body)
      t.equal(reply.status, 400)
      t.match(reply.text, /"reason":"(invalid_request|parse_error)"/)
    }
  })
  t.equal(seen.sent.length, 1)
  t.equal(seen.requests, 1)
})
