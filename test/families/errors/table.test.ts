import t from 'tap'
import type { ErrorRow, Family } from '../../../src/snapshot/types.ts'
import { classify, matchingRow } from '../../../src/families/errors/classify.ts'
import {
  EVM_ERRORS,
  JSONRPC_ERRORS,
  SOLANA_ERRORS,
  SOLANA_OUTCOMES,
} from '../../../src/families/errors/table.ts'
import { CASES, EFFECTS } from './cases.ts'

const TABLES: readonly (readonly [Family, readonly ErrorRow[]])[] = [
  ['evm', EVM_ERRORS],
  ['solana', [...SOLANA_OUTCOMES, ...SOLANA_ERRORS]],
  ['jsonrpc', JSONRPC_ERRORS],
]

t.test('each case has its class, and what follows from it', t => {
  t.ok(CASES.length > 400, `${CASES.length} cases`)
  const found = CASES.map(({ name, error, call }) => {
    const means = classify(error, call)
    return `${name}: ${means}, ${EFFECTS[means]}`
  })
  t.strictSame(
    found,
    CASES.map(({ name, class: means, next }) => `${name}: ${means}, ${next}`),
  )
  t.end()
})

t.test('no row is dead, and none stands in the shadow of an earlier one', t => {
  for (const [family, table] of TABLES) {
    const cases = CASES.filter(({ call }) => call.family === family)
    const matched = new Set(cases.map(({ error, call }) => matchingRow(error, call)))
    t.strictSame(
      table.filter(row => !matched.has(row)),
      [],
      `${family}: no case matches these`,
    )
    const spelled = table.map(row => JSON.stringify(row))
    t.strictSame(
      spelled.filter((row, index) => spelled.indexOf(row) < index),
      [],
      'no row is there twice',
    )
  }
  t.end()
})

t.test('the table is plain data, and large', t => {
  const rows = [...new Set(TABLES.flatMap(([, table]) => table))]
  const texts = new Set(rows.flatMap(({ text }) => text ?? []))
  t.ok(texts.size >= 250, `${rows.length} rows with ${texts.size} texts`)
  t.strictSame(JSON.parse(JSON.stringify(rows)), rows, 'it can be printed')
  const isLong = (text: string): boolean => text.replace(/[^a-z0-9]/gi, '').length > 2
  const odd = {
    thawed: rows.filter(row => !Object.isFrozen(row)),
    matchAll: rows.filter(({ codes, text }) => codes === null && text === null),
    tooShort: rows.filter(({ text }) => text !== null && !isLong(text)),
  }
  t.strictSame(odd, { thawed: [], matchAll: [], tooShort: [] })
  t.end()
})
