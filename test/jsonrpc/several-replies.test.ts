import fc from 'fast-check'
import t from 'tap'
import { scanReplies } from '../../src/jsonrpc/replies.ts'

/** What is found in a body: each id with its response, null where there is none to believe. */
function found(body: string) {
  const replies = scanReplies(body)
  if (replies === null) return null
  const { byId, isWhole } = replies
  return { isWhole, byId: Object.fromEntries([...byId].map(([id, one]) => [id, one?.raw ?? null])) }
}

const one = '{"jsonrpc":"2.0","id":1,"result":"0x1"}'
const two = '{"result":{"id":1},"id":2,"error":null}'

const cases: readonly (readonly [name: string, body: string, expected: ReturnType<typeof found>])[] = [
  ['in order', `[${one},${two}]`, { isWhole: true, byId: { 1: one, 2: two } }],
  ['with white space', ` [ ${two}\n,\t${one} ]\r\n`, { isWhole: true, byId: { 1: one, 2: two } }],
  ['an empty array', '[]', { isWhole: true, byId: {} }],
  ['an id that is doubled', `[${one},${two},${one}]`, { isWhole: false, byId: { 1: null, 2: two } }],
  ['no id', `[${one},{"result":1}]`, { isWhole: false, byId: { 1: one } }],
  ['other values', `[${one},1,null,[${two}]]`, { isWhole: false, byId: { 1: one } }],
  ['a member that is doubled', `[{"id":1,"result":1,"result":2}]`, { isWhole: false, byId: { 1: null } }],
  ['a variant of a member', `[{"id":1,"Result":1,"result":2}]`, { isWhole: false, byId: { 1: null } }],
  ['broken off in a value', `[${one},{"id":2,"result":"0x`, { isWhole: false, byId: { 1: one } }],
  ['broken off between two', `[${one},`, { isWhole: false, byId: { 1: one } }],
  ['more behind it', `[${one}] ${two}`, { isWhole: false, byId: { 1: one } }],
  [
    'an id that is text',
    '[{"id":"1","result":1}]',
    { isWhole: true, byId: { '"1"': '{"id":"1","result":1}' } },
  ],
  ['one object', one, null],
  ['a page', '<html>', null],
  ['nothing', '', null],
]
for (const [name, body, expected] of cases)
  t.test(name, t => {
    t.strictSame(found(body), expected)
    t.end()
  })

t.test('whatever the responses hold, each is found as it was sent', t => {
  const responses = fc
    .uniqueArray(fc.nat(50), { maxLength: 10 })
    .chain(ids =>
      fc.tuple(
        ...ids.map(id =>
          fc.json().map(json => `{"id":${id},"result":${json.replaceAll(/[^\0-\x7f]/g, '?')}}`),
        ),
      ),
    )
  fc.assert(
    fc.property(responses, texts => {
      const replies = scanReplies(`[${texts.join(',')}]`)!
      t.ok(replies.isWhole)
      t.same([...replies.byId.values()].map(one => one?.raw), texts) // prettier-ignore
    }),
    { numRuns: 200 },
  )
  t.end()
})
