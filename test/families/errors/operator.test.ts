import t from 'tap'
import type { ErrorRow, NodeErrorClass } from '../../../src/snapshot/types.ts'
import { classify } from '../../../src/families/errors/classify.ts'
import type { JudgedCall } from '../../../src/families/errors/classify.ts'
import { snapshotOf } from '../../support/snapshot.ts'
import { callOf, errorOf, rawOf, rowOf } from './cases.ts'

const classOf = (
  rows: readonly ErrorRow[],
  code: number,
  message: string,
  more: Partial<JudgedCall> = {},
): NodeErrorClass => classify(errorOf(code, message), callOf(more.family ?? 'evm', { rows, ...more }))

t.test("the operator's rows are tried ahead of the shipped ones, the first that fits decides", t => {
  const rows = [
    rowOf({ text: 'header not found', class: 'unavailable' }),
    rowOf({ text: 'header', class: 'limited' }),
  ]
  t.equal(classOf([], -32000, 'header not found'), 'missing')
  t.equal(classOf(rows, -32000, 'Header Not Found'), 'unavailable')
  t.equal(classOf(rows, -32000, 'header is odd'), 'limited')
  t.equal(classOf(rows, -32000, 'no header'), 'answer', 'a text is what the message begins with')
  t.equal(classOf([rowOf({ text: '*header', class: 'limited' })], -32000, 'no header'), 'limited')
  t.equal(
    classOf([rowOf({ text: 'header not found', class: 'answer' })], -32000, 'header not found'),
    'answer',
  )
  t.end()
})

t.test('all that a row states has to fit', t => {
  const row = rowOf({
    codes: [-32000, 7],
    text: 'gone',
    methods: ['eth_call', 'trace_*'],
    family: 'evm',
    class: 'missing',
  })
  t.equal(classOf([row], 7, 'gone fishing'), 'missing')
  t.equal(classOf([row], -32000, 'gone', { method: 'trace_block' }), 'missing')
  t.equal(classOf([row], 8, 'gone'), 'answer')
  t.equal(classOf([row], 7, 'went'), 'answer')
  t.equal(classOf([row], 7, 'gone', { method: 'eth_getLogs' }), 'answer')
  t.equal(classOf([row], 7, 'gone', { family: 'solana', method: 'eth_call' }), 'answer')
  t.equal(classOf([rowOf({ codes: [7], class: 'limited' })], 7, ''), 'limited', 'a code alone')
  t.end()
})

t.test('a row of too_wide fits only calls with a range', t => {
  const row = rowOf({ text: 'narrow it', class: 'too_wide' })
  t.equal(classOf([row], -32000, 'narrow it down'), 'answer')
  t.equal(classOf([row], -32000, 'narrow it down', { isRange: true }), 'too_wide')
  t.end()
})

t.test('no row overrules the outcome of an execution, or reads a message that quotes the call', t => {
  const rows = [
    rowOf({ text: '*', class: 'limited' }),
    rowOf({ codes: [3, -32000, -32603], class: 'billing' }),
  ]
  t.equal(classOf(rows, 3, 'execution reverted'), 'answer')
  t.equal(classOf(rows, -32603, 'VM Exception while processing transaction: reverted'), 'answer')
  const text = [rowOf({ text: '*out of fuel', class: 'limited' })]
  const params = rawOf(['out of fuel'])
  t.equal(classOf(text, -32000, 'bad value "out of fuel"', { params }), 'answer')
  t.equal(classOf(text, -32000, 'node is out of fuel'), 'limited')
  t.equal(
    classOf([...text, rowOf({ codes: [-32000], class: 'internal' })], -32000, 'out of fuel', { params }),
    'internal',
  )
  t.end()
})

t.test('-32600 and -32602 are answers unless a row names them', t => {
  for (const code of [-32600, -32602]) {
    t.equal(classOf([rowOf({ text: 'gone', class: 'missing' })], code, 'gone'), 'answer')
    t.equal(classOf([rowOf({ codes: [code], text: 'gone', class: 'missing' })], code, 'gone'), 'missing')
  }
  t.end()
})

t.test('a text of many stars is matched in linear time', t => {
  const row = rowOf({ text: `${'*a'.repeat(240)}b`, class: 'limited' })
  t.equal(classOf([row], -32000, 'a'.repeat(100_000)), 'answer')
  t.equal(classOf([row], -32000, `${'a'.repeat(300)}b`), 'limited')
  t.end()
})

t.test('rows as routes.yaml says them', async t => {
  const snapshot = await snapshotOf(t, {
    routes: `
errors: [{ code: -32000, text: "shard * is offline", class: missing }]
routes:
  - { id: eth-a, network: eth, http: "http://127.0.0.1:1", errors: [{ text: shard, class: unavailable }] }
  - { id: eth-b, network: eth, http: "http://127.0.0.1:2" }
`,
  })
  const classes = snapshot.networks['eth']!.routes.map(({ errors }) =>
    classOf(errors, -32000, 'Shard 7 is offline'),
  )
  t.strictSame(classes, ['unavailable', 'missing'])
})
