import t from 'tap'
import { firstAt, valueAt } from '../../src/jsonrpc/value-at.ts'

t.test('a path leads through members and indexes, and nowhere else', t => {
  const result = '{"a":{"b":[1,"two",{"c":null}],"d":"0x1"},"e":3,"e":4,"\\u0066":5,"F":6}'
  for (const [path, value, first = value] of [
    ['', result],
    ['a.d', '"0x1"'],
    ['a.b.1', '"two"'],
    ['a.b.2.c', 'null'],
    ['a.b.3', null],
    ['a.b.-1', null],
    ['a.b.x', null],
    ['a.b.00001', null],
    ['a.d.x', null],
    ['x', null],
    ['A', null],
    ['e', null, '3'],
    ['f', null, '5'],
  ] as const) {
    const steps = path === '' ? [] : path.split('.')
    t.strictSame([valueAt(result, steps), firstAt(result, steps)], [value, first], path)
  }
  t.equal(valueAt('null', ['a']), null)
  t.equal(firstAt('[]', ['0', 'a']), null)
  t.end()
})
