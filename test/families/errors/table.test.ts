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
  for (const { name, error, call, class: means, next } of CASES) {
    t.equal(classify(error, call), means, name)
    t.equal(EFFECTS[means], next, name)
  }
  t.end()
})

t.test('no row is dead, and none stands in the shadow of an earlier one', t => {
  for (const [family, table] of TABLES) {
    const cases = CASES.filter(({ call }) => call.family === family)
    const matched = new Set(cases.map(({ error, call }) => matchingRow(error, call)))
    for (const row of table) t.ok(matched.has(row), `${family}: ${JSON.stringify(row)}`)
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
  for (const row of rows) {
    t.ok(Object.isFrozen(row))
    t.strictSame(JSON.parse(JSON.stringify(row)), row, 'it can be printed')
    t.ok(row.codes !== null || row.text !== null)
    t.ok((row.text ?? 'long enough').replace(/[^a-z0-9]/gi, '').length > 2, `${row.text} is not a word`)
  }
  t.end()
})
