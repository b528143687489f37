import t from 'tap'
import { evm } from '../../src/families/evm/evm.ts'
import { jsonrpc } from '../../src/families/jsonrpc/jsonrpc.ts'
import { solana } from '../../src/families/solana/solana.ts'
import { checkParams } from '../../src/call/params.ts'
import { needsArchive } from '../../src/call/decide.ts'
import { joinRule } from '../../src/snapshot/join.ts'
import { fillRule } from '../../src/snapshot/rules.ts'
import type { Network } from '../../src/snapshot/types.ts'
import type { RuleConfig } from '../../src/config/types.ts'

const limits = { maxDepth: 64, head: 1000 }

function check(
  rule: RuleConfig,
  params: string,
): { params?: string; reason?: string; why?: unknown; data?: unknown } {
  const checked = checkParams(fillRule('m', rule), evm, params, limits)
  return 'reason' in checked
    ? { reason: checked.reason, why: checked.data['why'], data: checked.data }
    : { params: checked.params }
}

t.test('params are counted and otherwise left alone', t => {
  const rule: RuleConfig = { params: [1, 2] }
  t.strictSame(check(rule, '[ 1e400 , {"a" : 18446744073709551615} ]'), {
    params: '[ 1e400 , {"a" : 18446744073709551615} ]',
  })
  t.equal(check(rule, '[]').why, 'the method takes 1 to 2 params, 0 were sent')
  t.equal(check(rule, '[1,[2,3],{"a":[4,5]}]').why, 'the method takes 1 to 2 params, 3 were sent')
  t.equal(check(rule, '["a,b]"]').params, '["a,b]"]')
  t.equal(check(rule, '{"a":1}').reason, 'invalid_params')
  t.equal('params' in checkParams(fillRule('m', rule), solana, '{"a":1}', limits), true)
  t.end()
})

t.test('params by name are counted as those by position', t => {
  const named = (rule: RuleConfig, params: string): unknown => {
    const checked = checkParams(fillRule('m', rule), jsonrpc, params, limits)
    return 'reason' in checked ? [checked.reason, checked.data['why']] : checked.params
  }
  const wrong = (count: number) => ['invalid_params', `the method takes 1 to 2 params, ${count} were sent`]
  const rule: RuleConfig = { params: [1, 2] }
  for (const params of ['{"a":1}', ' { "a" : [1,2,3] , "b" : {"c":1,"d":2,"e":3} }'.trim(), '{"args":[1,2]}'])
    t.equal(named(rule, params), params)
  t.strictSame(named(rule, '{}'), wrong(0))
  t.strictSame(named(rule, '{"a":1,"b":2,"c":3}'), wrong(3))
  t.strictSame(named(rule, '{"a":1,"a":2,"a":3}'), wrong(3))
  t.strictSame(named(rule, '{"args":[1,2],"verbose":2}'), wrong(3), 'Bitcoin Core takes both')
  t.strictSame(named(rule, '{"\\u0061rgs":[1,2,3]}'), wrong(3))
  t.strictSame(named(rule, '{"args":[]}'), wrong(0))
  t.strictSame(named({ params: [0, 0] }, '{}'), '{}')
  t.strictSame(named({}, '{"a":1,"b":2,"c":3}'), '{"a":1,"b":2,"c":3}', 'a row without a count')
  const range: RuleConfig = { block: { at: 0, kind: 'range' }, maxRange: 100 }
  t.match(named(range, '{"filter":{"fromBlock":"0x0"}}'), ['invalid_params', /send an array/])
  t.equal(named({ block: { at: 0, kind: 'ref' } }, '{"block":"0x0"}'), '{"block":"0x0"}')
  t.end()
})

t.test('JSON in a string is decoded where the rule says so, and only there', t => {
  const rule: RuleConfig = { jsonParams: [1] }
  t.equal(check(rule, '["0x1", "{\\"tracer\\":\\"callTracer\\"}"]').params, '["0x1",{"tracer":"callTracer"}]')
  t.equal(check(rule, '["0x1", " [25,75] "]').params, '["0x1",[25,75]]')
  t.equal(check(rule, '["{}", "é"]').params, '["{}", "é"]')
  for (const text of ['"{"', '"{} x"', '"1"', '"plain"', '""', '{"a":1}'])
    t.equal(check(rule, `["0x1", ${text}]`).params, `["0x1", ${text}]`, text)
  const deep = JSON.stringify('['.repeat(65) + ']'.repeat(65))
  t.equal(check(rule, `[1,${deep}]`).params, `[1,${deep}]`, 'too deep to be worth decoding')
  t.end()
})

t.test("a tracer that is not built in is JavaScript on the operator's node", t => {
  const rule: RuleConfig = { jsonParams: [1], tracers: ['callTracer', 'muxTracer'] }
  const allowed = [
    '[1]',
    '[1,null]',
    '[1,{}]',
    '[1,{"tracer":"callTracer"}]',
    '[1,{"tracer":""}]',
    '[1,{"tracer":"muxTracer","tracerConfig":{"callTracer":{}}}]',
  ]
  const denied = [
    '[1,{"tracer":"{result:function(){}}"}]',
    '[1,{"tracer":5}]',
    '[1,{"Tracer":"callTracer"}]',
    '[1,{"tracer":"callTracer","tracer":"x"}]',
    '[1,{"trac\\u0065r":"x"}]',
    '[1,"{\\"tracer\\":\\"x\\"}"]',
    '[{"tracer":"x"}]',
    '[1,{"tracer":"muxTracer","tracerConfig":{"x":{}}}]',
    '[1,{"tracer":"muxTracer","tracerConfig":{"muxTracer":{"x":{}}}}]',
    '[1,{"tracer":"muxTracer","TRACERCONFIG":{"x":{}}}]',
  ]
  for (const params of allowed) t.ok(check(rule, params).params, params)
  for (const params of denied)
    t.match(
      check(rule, params),
      { reason: 'invalid_params', data: { tracers: ['callTracer', 'muxTracer'] } },
      params,
    )
  t.end()
})

t.test('a range over maxRange is refused, as far as it can be known', t => {
  const rule: RuleConfig = { block: { at: 0, kind: 'range' }, maxRange: 100 }
  const range = (from: string, to: string): string => `[{"fromBlock":${from},"toBlock":${to}}]`
  for (const params of [
    range('"0x1"', '"0x64"'),
    range('"0x385"', '"latest"'),
    range('"latest"', '"0x1"'),
    `[{"blockHash":"0x${'ab'.repeat(32)}"}]`,
    '[{}]',
  ])
    t.ok(check(rule, params).params, params)
  for (const params of [range('"0x1"', '"0x65"'), range('"earliest"', '"latest"'), '[{"fromBlock":"0x1"}]'])
    t.match(check(rule, params), { reason: 'invalid_params', data: { maxRange: 100 } }, params)
  // How far behind these are nobody knows here.
  for (const tag of ['safe', 'finalized', 'l1_committed', 'accepted']) {
    t.ok(check(rule, range(`"${tag}"`, `"${tag}"`)).params, tag)
    t.ok(check(rule, range('"0x385"', `"${tag}"`)).params, tag)
    for (const to of ['"latest"', '"0x3e8"', '"earliest"', 'null'])
      t.match(check(rule, range(`"${tag}"`, to)), { reason: 'invalid_params', data: { maxRange: 100 } })
  }
  for (const params of ['[{"fromBlock":"0x1","FROMBLOCK":"0x0"}]', '[{"toBlock":"0x1","toBlock":"0x2"}]'])
    t.match(check(rule, params).why, /is a duplicate or a variant/, params)
  t.end()
})

t.test('what reads old state needs an archive', t => {
  const hash = `"0x${'ab'.repeat(32)}"`
  const cases: [RuleConfig['reads'], string, boolean][] = [
    ['state', '"0x368"', false], // 872 = 1000 - 128
    ['state', '"0x367"', true],
    ['replay', '"0x368"', true],
    ['replay', '"0x369"', false],
    ['none', '"0x1"', false],
    ['state', '"earliest"', true],
    ['state', '"latest"', false],
    ['state', '"pending"', false],
    ['state', 'null', false],
    ['state', hash, false],
    ['state', '{"blockNumber":"0x1"}', true],
    ['state', `{"blockHash":${hash}}`, false],
  ]
  for (const [reads, block, expected] of cases) {
    const rule = fillRule('m', { reads: reads ?? 'none', block: { at: 1, kind: 'ref', omitted: 'latest' } })
    const row = joinRule(rule, [], false)
    const checked = checkParams(rule, evm, `[1,${block}]`, limits)
    if ('reason' in checked) throw new Error(checked.message)
    const network = { stateWindow: 128 } as Network
    t.equal(needsArchive(row, network, checked.span, 1000), expected, `${reads} ${block}`)
    if (block !== '"earliest"')
      t.equal(
        needsArchive(row, network, checked.span, null),
        false,
        'nothing is old while the head is unknown',
      )
  }
  t.equal(
    check({ reads: 'state', block: { at: 0, kind: 'ref' } }, '[{"blockNumber":"0x1","BlockNumber":"0x2"}]')
      .reason,
    'invalid_params',
  )
  t.end()
})
