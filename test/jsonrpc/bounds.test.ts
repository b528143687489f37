import t from 'tap'
import { evm } from '../../src/families/evm/evm.ts'
import { isBad, MAX_MEMBERS, MAX_BATCH, scanMessage } from '../../src/jsonrpc/message.ts'
import { elementsOf, memberOf } from '../../src/jsonrpc/elements.ts'
import { checkParams } from '../../src/call/params.ts'
import { fillRule } from '../../src/snapshot/rules.ts'
import type { RuleConfig } from '../../src/config/types.ts'

/** What a message is taken for, in a word. */
function taken(text: string): string {
  const message = scanMessage(Buffer.from(text), 64)
  if (message.kind === 'refused') return message.refusal.reason
  if (message.kind === 'batch') return `${message.items.length} items`
  return isBad(message.item) ? `bad ${message.item.refusal.reason}` : message.item.method
}
const members = (count: number) => Array.from({ length: count }, (_, i) => `"m${i}":0`).join()
const check = (rule: RuleConfig, params: string): any =>
  checkParams(fillRule('m', rule), evm, params, { maxDepth: 64, head: 1000 })

t.test('a call has so many members, and what comes after them is not even read', t => {
  const call = (extra: number, end = '}') => `{"jsonrpc":"2.0","id":1,"method":"m",${members(extra)}${end}`
  t.equal(taken(call(MAX_MEMBERS - 3)), 'm')
  t.equal(taken(call(MAX_MEMBERS - 2)), 'invalid_request')
  t.equal(taken(call(MAX_MEMBERS - 2, ', and this is no JSON')), 'invalid_request')
  t.equal(taken(`[${call(1)},${call(MAX_MEMBERS)}]`), 'invalid_request')
  t.equal(taken(call(MAX_MEMBERS - 3, ', and this is no JSON')), 'parse_error')
  t.end()
})

t.test('a batch ends at its first item too many: what follows is not read', t => {
  for (const item of ['1', '[]', '{}', '{"jsonrpc":"2.0","method":"m"}', '"a"']) {
    const items = (count: number, end = ']') => `[${Array.from({ length: count }, () => item).join()}${end}`
    t.equal(taken(items(MAX_BATCH)), `${MAX_BATCH} items`)
    t.equal(taken(items(MAX_BATCH + 1)), `${MAX_BATCH + 1} items`)
    t.equal(taken(items(50_000)), `${MAX_BATCH + 1} items`)
    t.equal(taken(items(MAX_BATCH + 1, ',x]')), `${MAX_BATCH + 1} items`)
    t.equal(taken(items(MAX_BATCH + 1, `,${'['.repeat(64)}`)), `${MAX_BATCH + 1} items`)
    t.equal(taken(items(MAX_BATCH, ',x]')), 'parse_error')
    t.equal(taken(items(MAX_BATCH, `,${'['.repeat(64)}`)), 'invalid_request')
  }
  t.end()
})

t.test('names and versions are measured as they are written', t => {
  const escaped = (count: number) => '\\u0061'.repeat(count)
  t.equal(taken(`{"jsonrpc":"2.0","id":1,"method":"${escaped(128)}"}`), 'a'.repeat(128))
  t.equal(taken(`{"jsonrpc":"2.0","id":1,"method":"${escaped(129)}"}`), 'bad invalid_request')
  t.equal(taken(`{"jsonrpc":"2.0","id":1,"method":"${'a'.repeat(129)}"}`), 'bad invalid_request')
  t.equal(taken(`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(1 << 20)}"}`), 'bad invalid_request')
  t.equal(taken(`{"jsonrpc":"\\u0032\\u002E\\u0030","id":1,"method":"m"}`), 'm')
  t.equal(taken(`{"jsonrpc":"2.0${'0'.repeat(1 << 20)}","id":1,"method":"m"}`), 'bad invalid_request')
  t.equal(taken(`{"jsonrpc":"2.0","id":1,"method":"m","${'x'.repeat(1 << 20)}":0}`), 'm', 'a long name')
  t.end()
})

t.test('what a rule reads of params is bounded', t => {
  const range: RuleConfig = { params: [1, 1], block: { at: 0, kind: 'range' }, maxRange: 100 }
  t.ok(check(range, `[{"fromBlock":"0x1","toBlock":"0x2",${members(998)}}]`).params)
  t.match(check(range, `[{"fromBlock":"0x1","toBlock":"0x2",${members(999)}}]`), { reason: 'invalid_params' })
  t.equal(memberOf(`{"a":1,${members(1000)}}`, 'a'), null)
  t.equal(memberOf(`{"a":1,${members(999)}}`, 'a'), '1')

  const zeros = (count: number) => `[{"fromBlock":"0x${'0'.repeat(count)}1","toBlock":"0xfff"}]`
  t.match(check(range, zeros(400)), { data: { maxRange: 100 } }, 'leading zeros do not widen a range')
  t.match(check(range, zeros(600)), { reason: 'invalid_params', data: { why: /512 bytes/ } })
  t.match(check(range, zeros(600).replace('fromBlock', 'toBlock')), { reason: 'invalid_params' })
  t.match(check({ block: { at: 0, kind: 'ref' } }, `["0x${'0'.repeat(600)}1"]`), {
    data: { why: /512 bytes/ },
  })
  t.match(check({ block: { at: 0, kind: 'ref' } }, `[{"blockNumber":"0x${'0'.repeat(600)}1"}]`), {
    data: { why: /512 bytes/ },
  })

  const many = (count: number) => `[${'0,'.repeat(count - 1)}0]`
  t.match(check({ params: [1, 2] }, many(99)).message, /takes 1 to 2 params, 99 were sent/)
  t.match(check({ params: [1, 2] }, many(50_000)).message, /takes 1 to 2 params, 50000 were sent/)
  t.match(check({ block: { at: 0, kind: 'ref' } }, many(1001)), { reason: 'invalid_params' })
  t.ok(check({}, many(1001)).params, 'a rule that reads nothing leaves that to the node')
  t.strictSame(elementsOf('[1,2,3]', 2), ['1', '2'])

  const subscribe: RuleConfig = { subscribe: 'eth_unsubscribe' }
  t.ok(check(subscribe, `["logs",{"address":"${'a'.repeat(100_000)}"}]`).params)
  t.match(check(subscribe, `["logs",{"address":"${'a'.repeat(200_000)}"}]`), { reason: 'invalid_params' })
  t.end()
})

t.test('muxTracer may hold itself once', t => {
  const tracers: RuleConfig = { tracers: ['muxTracer', 'callTracer'] }
  const nested = (levels: number) =>
    `[{},{"tracer":"muxTracer","tracerConfig":${'{"muxTracer":'.repeat(levels)}{"callTracer":{}}${'}'.repeat(levels)}}]`
  t.ok(check(tracers, nested(0)).params)
  t.ok(check(tracers, nested(1)).params)
  t.match(check(tracers, nested(2)), { reason: 'invalid_params', data: { why: /too often/ } })
  t.match(check(tracers, nested(60)), { reason: 'invalid_params' })
  t.match(check(tracers, `[{},{"tracer":"${'c'.repeat(300)}"}]`), { reason: 'invalid_params' })
  t.end()
})
