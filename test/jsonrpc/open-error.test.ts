import fc from 'fast-check'
import t from 'tap'
import { readOpenError } from '../../src/jsonrpc/open-error.ts'
import { rawJson, textOf } from '../../src/jsonrpc/raw.ts'

/** What is read of an error object of which this much has come: its code, and its message. */
function read(error: string): string {
  const found = readOpenError(`{"error":${error}`, 9)
  return found === null ? 'nothing' : `${found.code} ${found.message}`
}

t.test('the code counts once something follows it', t => {
  t.equal(read('{"code":-3200'), 'nothing', 'more digits may come')
  t.equal(read('{"code":-32005,'), '-32005 ')
  t.equal(read('{"code":-32005}'), '-32005 ')
  t.equal(read('{ "code" : 3 , "message" : "no" '), '3 no')
  for (const none of [
    '',
    '{',
    '{}',
    '{"code"',
    '{"code":"3",',
    '{"code":null,',
    '{"cod":3,',
    '[3,',
    '"3',
    '7',
  ])
    t.equal(read(none), 'nothing', none)
  t.end()
})

t.test('a string that goes on counts as far as it is plain, any other value not at all', t => {
  t.equal(read('{"code":3,"message":"half a sent'), '3 half a sent')
  t.equal(read('{"code":3,"message":"a \\"quote'), '3 a ', 'an escape may be cut in two')
  t.equal(read('{"code":3,"message":"caf\xc3'), '3 caf', 'so may a character')
  t.equal(read('{"code":3,"message":"caf\xc3\xa9",'), '3 café')
  t.equal(read('{"code":3,"message":["'), '3 ')
  t.equal(read('{"code":3,"message":7,'), '3 ')
  t.equal(read(`{"code":3,"message":"${'a'.repeat(5_000)}`), `3 ${'a'.repeat(4_095)}`)
  t.equal(read(`{"code":3,"message":"${'a'.repeat(5_000)}",`), `3 ${'a'.repeat(5_000)}`)
  t.end()
})

t.test('what stands between does not hide what follows, and what is broken does', t => {
  t.equal(read('{"data":{"code":1,"message":"inner"},"message":"m","code":3,"more":['), '3 m')
  t.equal(read(`{"data":${'['.repeat(9_999)}${']'.repeat(9_999)},"code":3,`), '3 ')
  t.equal(read('{"data":tru,"code":3,'), 'nothing')
  t.equal(read('{"data":[,],"code":3,'), 'nothing')
  t.equal(read('{"code":3;"message":"m"'), '3 ')
  t.end()
})

t.test('property: wherever it is cut, it is JSON and says nothing that the whole does not say', t => {
  const error = fc.record({
    message: fc.string({ unit: 'binary', maxLength: 12 }),
    code: fc.integer(),
    data: fc.jsonValue({ maxDepth: 2 }),
  })
  const named = fc.shuffledSubarray(['message', 'code', 'data'] as const, { minLength: 3 })
  const found = { yes: 0, no: 0 }
  fc.assert(
    fc.property(error, named, fc.nat(), (whole, names, at) => {
      const raw = rawJson(Object.fromEntries(names.map(name => [name, whole[name]])))
      const open = readOpenError(raw.slice(0, at % (raw.length + 1)), 0)
      found[open === null ? 'no' : 'yes'] += 1
      if (open === null) return true
      JSON.parse(textOf(open.error))
      const message = JSON.parse(JSON.stringify(whole.message)) as string
      return open.code === whole.code && message.startsWith(open.message)
    }),
    { numRuns: 3_000 },
  )
  t.ok(found.yes > 500 && found.no > 500, JSON.stringify(found))
  t.end()
})
