import t from 'tap'
import { result } from '../support/node-replies.ts'
import { Watch } from '../support/observe.ts'
import { rawItems } from '../support/raw-json.ts'
import { commonHeaders, refused } from '../support/refusals.ts'
import { startBench } from './message-bench.ts'
import { brokenBodies, brokenTexts, messageCases, type MessageCase } from './message-cases.ts'
import { holdBetween, holdReply, holdTraces, sibling, siblings } from './message-expectations.ts'

const bench = await startBench(t)
const watches = { evm: new Watch(() => bench.access('evm')), solana: new Watch(() => bench.access('solana')) }

/** Scripts the node for a case, sends the body, and gives the reply with all its traces. */
async function send(body: string, { family, node }: MessageCase) {
  bench.nodes[family].otherwise(node ?? result('"ok"')).on(siblings[family], result('"sibling"'))
  return watches[family].observe(bench.nodes[family], access => access.post(body))
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
      holdReply(t, reply.text, one)
    }
    holdTraces(t, seen, one)
  })
}

for (const one of messageCases.filter(({ transport }) => transport !== 'ws')) {
  t.test(`batch item: ${one.name}`, async t => {
    const body = `[${sibling(one.family, 'left')},${one.body},${sibling(one.family, 'right')}]`
    const seen = await send(body, one)
    const { value: reply } = seen
    t.equal(reply.status, 200)
    commonHeaders(t, reply)
    holdBetween(t, rawItems(reply.text), one)
    holdTraces(t, seen, one, 2)
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
