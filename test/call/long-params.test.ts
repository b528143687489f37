import t from 'tap'
import { familyOf } from '../../src/families/families.ts'
import type { RuleConfig } from '../../src/config/types.ts'
import type { Call } from '../../src/jsonrpc/message.ts'
import { scanMessage } from '../../src/jsonrpc/message.ts'
import { checkParams } from '../../src/call/params.ts'
import { fillRule } from '../../src/snapshot/rules.ts'
import type { Family } from '../../src/snapshot/types.ts'

/** What looking into params may cost besides the one scan that proves them to be JSON. */

const limits = { maxDepth: 64, head: 1000 }
const bound = /at most 65536 bytes/
const long = (text: string, bytes = 4.5 * 2 ** 20): string => text.repeat(Math.floor(bytes / text.length))
const data = `0x${long('ab')}`

const traceCall: RuleConfig = {
  params: [2, 3],
  jsonParams: [2],
  tracers: ['callTracer', 'muxTracer'],
  block: { at: 1, kind: 'ref' },
}
const feeHistory: RuleConfig = { params: [2, 3], block: { at: 1, kind: 'num' }, jsonParams: [2] }
const getLogs: RuleConfig = { params: [1, 1], block: { at: 0, kind: 'range' }, maxRange: 100 }
const getBalance: RuleConfig = { params: [2, 2], block: { at: 1, kind: 'ref' } }
const onSolana: RuleConfig = { params: [1, 2], commitment: 1 }

interface Case {
  readonly rule: RuleConfig
  readonly params: string
  readonly family?: Family
}

const refused: Readonly<Record<string, Case>> = {
  'tracer options': {
    rule: traceCall,
    params: `[{},"latest",{"tracer":"callTracer","x":[${long('[],')}1]}]`,
  },
  "a tracer's configuration": {
    rule: traceCall,
    params: `[{},"latest",{"tracerConfig":{"a":[${long('{"timeout":"1s"},')}1]}}]`,
  },
  "muxTracer's configuration": {
    rule: traceCall,
    params: `[{},"latest",{"tracer":"muxTracer","tracerConfig":{"callTracer":{"a":"${long('\\u0061')}"}}}]`,
  },
  'tracer options beside overrides': {
    rule: traceCall,
    params: `[{},"latest",{"stateOverrides":{},"x":"${long('a')}"}]`,
  },
  'tracer options as text': { rule: traceCall, params: `[{},"latest","{\\"x\\":\\"${long('a')}\\"}"]` },
  'percentiles as text': { rule: feeHistory, params: `["0x1","latest","[${long('1,')}1]"]` },
  'a block object': { rule: getBalance, params: `["0x1",{"blockNumber":"0x1","x":[${long('[],')}1]}]` },
  "Solana's config object": {
    rule: onSolana,
    params: `["a",{${Array.from({ length: 900 }, (_, i) => `"k${i}":"${long('\\u0061', 5_000)}"`).join()}}]`,
    family: 'solana',
  },
  "Solana's config object, in an earlier place": {
    rule: onSolana,
    params: `[{"x":"${long('a')}"}]`,
    family: 'solana',
  },
}

const passed: Readonly<Record<string, Case>> = {
  percentiles: { rule: feeHistory, params: `["0x1","latest",[${long('1.5,')}1]]` },
  'call data': { rule: traceCall, params: `[{"data":"${data}"},"latest",{"tracer":"callTracer"}]` },
  'state overrides': {
    rule: traceCall,
    params: `[{},"latest",{"stateOverrides":{"0x1":{"code":"${data}"}},"tracer":"callTracer"}]`,
  },
  'topics of a filter': {
    rule: getLogs,
    params: `[{"fromBlock":"0x1","toBlock":"0x2","topics":[[${long(`"0x${'ab'.repeat(32)}",`)}null]]}]`,
  },
  'accounts of a Solana call': { rule: onSolana, params: `[[${long('"abc",')}"a"]]`, family: 'solana' },
}

function callOf(params: string): Call {
  const message = scanMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"method":"m","params":${params}}`), 64)
  if (message.kind !== 'single' || 'refusal' in message.item) throw new Error('no call')
  return message.item
}

/** What the check of a call says. */
function check({ rule, family = 'evm' }: Case, { params, elements }: Call) {
  return checkParams(fillRule('m', rule), familyOf({ family }), params, limits, elements)
}

/** The shortest of a few tries, in milliseconds. */
function timeOf(work: () => unknown): number {
  const tries = Array.from({ length: 5 }, () => {
    const begin = performance.now()
    work()
    return performance.now() - begin
  })
  return Math.min(...tries)
}

t.test('what a rule has to look into is bounded, and refused without being read', t => {
  for (const [name, each] of Object.entries(refused)) {
    const call = callOf(each.params)
    t.match(check(each, call), { reason: 'invalid_params', data: { why: bound } }, name)
    const [scan, checked] = [timeOf(() => callOf(each.params)), timeOf(() => check(each, call))]
    t.ok(checked < scan / 3, `${name}: ${checked.toFixed(2)} ms behind a scan of ${scan.toFixed(2)} ms`)
  }
  t.end()
})

t.test('what is passed on unread has no such bound', t => {
  for (const [name, each] of Object.entries(passed)) {
    const call = callOf(each.params)
    t.match(check(each, call), { params: each.params }, name)
  }
  t.end()
})

t.test('a parameter that no rule reads is scanned once', t => {
  for (const name of ['percentiles', 'accounts of a Solana call']) {
    const each = passed[name]!
    const call = callOf(each.params)
    const [scan, checked] = [timeOf(() => callOf(each.params)), timeOf(() => check(each, call))]
    t.ok(checked < scan / 3, `${name}: ${checked.toFixed(2)} ms behind a scan of ${scan.toFixed(2)} ms`)
  }
  t.end()
})

t.test('many params are counted, and found at any place', t => {
  const rule: RuleConfig = { params: [0, 60], block: { at: 50, kind: 'ref' }, jsonParams: [50] }
  const some = (count: number, at50 = '"0x5"') =>
    `[${Array.from({ length: count }, (_, i) => (i === 50 ? at50 : i)).join()}]`
  t.match(check({ rule, params: '' }, callOf(some(60))), { span: { from: { number: 5 } } })
  t.match(check({ rule, params: '' }, callOf(some(60, '"{\\"blockNumber\\":\\"0x6\\"}"'))), {
    span: { from: { number: 6 } },
    params: some(60, '{"blockNumber":"0x6"}'),
  })
  t.match(check({ rule, params: '' }, callOf(some(61))), {
    data: { why: 'the method takes 0 to 60 params, 61 were sent' },
  })
  t.end()
})
