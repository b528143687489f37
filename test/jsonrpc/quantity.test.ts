import fc from 'fast-check'
import t from 'tap'
import { readQuantity } from '../../src/jsonrpc/quantity.ts'

t.test('numbers of nodes are integers, or strings that spell one', t => {
  const cases: [raw: string, number: number | null][] = [
    ['"0x10"', 16],
    ['"0X1f"', 31],
    ['"42"', 42],
    ['42', 42],
    ['0', 0],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
    ['9007199254740992', null],
    ['"0x20000000000000"', null],
    ['-1', null],
    ['1.5', null],
    ['1e3', null],
    ['', null],
    ['"0x1', null],
    ['"0x"', null],
    ['""', null],
    ['" 1"', null],
    ['"1e3"', null],
    ['null', null],
    ['true', null],
    ['[]', null],
    ['["0x1"]', null],
    ['{"toString":1}', null],
    ['{"valueOf":1,"toString":1}', null],
    [`"0x${'0'.repeat(100)}1"`, null],
  ]
  for (const [raw, number] of cases) t.equal(readQuantity(raw), number, raw)
  t.equal(readQuantity(null), null)
  t.equal(readQuantity(undefined), null)
  t.end()
})

t.test('no JSON value makes it throw', t => {
  fc.assert(
    fc.property(fc.json(), raw => {
      const number = readQuantity(raw)
      return number === null || (Number.isSafeInteger(number) && number >= 0)
    }),
  )
  t.end()
})
