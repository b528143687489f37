import t from 'tap'
import { linkTo, parseRoute } from '../../dashboard/src/address.ts'
import { choiceOf, PAGE, show } from '../../dashboard/src/endpoints/list.ts'
import type { Listed } from '../../dashboard/src/endpoints/list.ts'
import { changeOf } from '../../dashboard/src/text/audit.ts'
import { trend } from '../../dashboard/src/text/figure.ts'
import { pretty } from '../../dashboard/src/text/pretty.ts'
import { lastUsed } from '../../dashboard/src/text/time.ts'

t.test('a URL names a page and its state, or no page at all', t => {
  t.strictSame(parseRoute(''), { page: 'overview', id: '', query: {} })
  t.strictSame(parseRoute('#/usage?range=30d&method=eth_call'), {
    ...{ page: 'usage', id: '' },
    query: { range: '30d', method: 'eth_call' },
  })
  t.strictSame(parseRoute('#/endpoints/ep_1'), { page: 'endpoints', id: 'ep_1', query: {} })
  for (const hash of ['#/nope', '#/usage/ep_1', '#/endpoints/ep_1/x', '#/endpoints/%3Cb%3E', '#/Usage'])
    t.equal(parseRoute(hash).page, null, hash)
  const query = { q: 'a&b=c #?', network: '' }
  const link = linkTo('endpoints', '', query)
  t.notMatch(link, /network/)
  t.strictSame(parseRoute(link).query, { q: 'a&b=c #?' }, 'what was typed comes back as it was')
  t.equal(linkTo('usage'), '#/usage')
  t.end()
})

const listed = Array.from({ length: 120 }, (_, i) => ({
  ...{ endpointId: `ep_${i}`, name: `app ${i}`, chain: i % 2 === 0 ? 'alpha' : 'beta' },
  ...{ networkName: i % 2 === 0 ? 'Alpha Chain' : 'Beta', keyHint: 'abcd', createdAt: 1000 + i },
  ...{ status: i % 10 === 0 ? 'inactive' : 'active', today: i % 7, requestCount: 1000 - i, lastUsedAt: null },
})) as unknown as Listed[]
const names = (query: Record<string, string>) => show(listed, choiceOf(query)).rows.map(({ name }) => name)

t.test('endpoints are filtered, sorted and cut as the URL says', t => {
  t.match(show(listed, choiceOf({})), { found: 120, page: 1, pages: 3 })
  t.equal(names({}).length, PAGE)
  t.strictSame(names({}).slice(0, 2), ['app 0', 'app 1'], 'the oldest first')
  t.equal(names({ page: '3' }).length, 20)
  t.match(show(listed, choiceOf({ page: '99' })), { page: 3 }, 'past the end is the end')
  t.match(show(listed, choiceOf({ page: '-1' })), { page: 1 })
  t.strictSame(names({ network: 'beta', status: 'inactive' }), [])
  t.equal(names({ status: 'inactive' }).length, 12)
  t.strictSame(names({ q: 'BETA 117' }), ['app 117'], 'each word anywhere')
  t.strictSame(names({ sort: 'name' }).slice(0, 3), ['app 0', 'app 1', 'app 2'], 'numbers as numbers')
  t.strictSame(names({ sort: 'requests' }).at(0), 'app 119')
  t.strictSame(names({ sort: '-requests' }).at(0), 'app 0')
  t.strictSame(names({ sort: '-today' }).at(-1) !== names({ sort: 'today' }).at(-1), true)
  t.strictSame(names({ sort: 'nonsense' }), names({}))
  t.end()
})

t.test('a reply is laid out without touching a digit or a text', t => {
  t.equal(
    pretty('{"a":[1,{"b":12345678901234567890}],"c":"{,}: \\"x\\"","d":[],"e":{}}'),
    '{\n  "a": [\n    1,\n    {\n      "b": 12345678901234567890\n    }\n  ],\n  "c": "{,}: \\"x\\"",\n  "d": [],\n  "e": {}\n}',
  )
  t.end()
})

t.test('words of figures and times', t => {
  t.strictSame(
    [trend(110, 100), trend(50, 100), trend(1, 1), trend(5, 0), trend(0, 0)],
    ['+10%', '−50%', '±0%', 'new', '±0%'],
  )
  const now = Date.UTC(2025, 2, 5, 14, 20) / 1000
  const used = (lastUsedAt: number | null, requestCount = 1) => lastUsed({ lastUsedAt, requestCount }, now)
  t.strictSame(
    [used(null, 0), used(null), used(now - 1200), used(now - 1200 - 5 * 3600), used(now - 3 * 86_400)],
    ['never', '–', 'this hour', 'today, 09:00', '2 Mar 2025'],
  )
  const entry = { time: 0, actor: 'operator', action: 'endpoint.changed', target: 'ep_1' }
  t.equal(
    changeOf({ ...entry, before: { name: 'a', perSecond: null }, after: { name: 'b', perSecond: 5 } }),
    'name: a → b; perSecond: null → 5',
  )
  t.end()
})
