import t from 'tap'
import { linkTo, parseRoute } from '../../dashboard/src/address.ts'
import { choiceOf, PAGE, show } from '../../dashboard/src/endpoints/list.ts'
import type { Listed } from '../../dashboard/src/endpoints/list.ts'
import type { Endpoint } from '../../dashboard/src/api/types.ts'
import { changeOf } from '../../dashboard/src/text/audit.ts'
import { trend } from '../../dashboard/src/text/figure.ts'
import { labelChange, labelTexts } from '../../dashboard/src/text/labels.ts'
import { pretty } from '../../dashboard/src/text/pretty.ts'
import { problemOf, problemsOf } from '../../dashboard/src/text/problems.ts'
import { changeOf as restrictionsChange, formOf } from '../../dashboard/src/text/restrictions.ts'
import { lastUsed } from '../../dashboard/src/text/time.ts'

t.test('a URL names a page and its state, or no page at all', t => {
  t.strictSame(parseRoute(''), { page: 'overview', id: '', query: {} })
  t.strictSame(parseRoute('#/usage?range=30d&method=eth_call'), {
    page: 'usage',
    id: '',
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
  endpointId: `ep_${i}`,
  name: `app ${i}`,
  chain: i % 2 === 0 ? 'alpha' : 'beta',
  networkName: i % 2 === 0 ? 'Alpha Chain' : 'Beta',
  keyHint: 'abcd',
  createdAt: 1000 + i,
  status: i % 10 === 0 ? 'inactive' : 'active',
  today: i % 7,
  requestCount: 1000 - i,
  lastUsedAt: null,
  labels: i < 10 ? { team: 'a' } : i === 10 ? { legacy: '' } : {},
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
  t.equal(names({ label: 'team=a' }).length, 10)
  t.strictSame(names({ label: 'team=A' }), [])
  t.strictSame(names({ label: 'legacy' }), ['app 10'])
  t.equal(names({ q: 'TEAM=a' }).length, 10)
  t.strictSame(names({ sort: 'name' }).slice(0, 3), ['app 0', 'app 1', 'app 2'], 'numbers as numbers')
  t.strictSame(names({ sort: 'requests' }).at(0), 'app 119')
  t.strictSame(names({ sort: '-requests' }).at(0), 'app 0')
  t.strictSame(names({ sort: '-today' }).at(-1) !== names({ sort: 'today' }).at(-1), true)
  t.strictSame(names({ sort: 'nonsense' }), names({}))
  t.end()
})

t.test('labels are read as they are typed, and those that are no longer there are taken away', t => {
  t.strictSame(labelTexts({ team: 'wallet', legacy: '', a: 'b=c' }), ['a=b=c', 'legacy', 'team=wallet'])
  t.strictSame(labelChange({ team: 'wallet', old: 'x' }, ' team = data\n\na=b=c\nlegacy\n'), {
    old: null,
    team: 'data',
    a: 'b=c',
    legacy: '',
  })
  t.strictSame(labelChange({ team: 'wallet' }, ''), { team: null })
  t.end()
})

t.test('what is refused is said in words for an owner', t => {
  const list =
    'must be null or a list of 1 to 100 IP addresses and CIDRs such as "203.0.113.7" and "2001:db8::/32"'
  t.match(
    problemOf('invalid_params', `allowedIps ${list}; item 2 is not`),
    /^Allowed addresses .*; line 3 is none$/,
  )
  t.equal(problemOf('invalid_params', 'webhook must be https'), 'The URL must be https')
  t.equal(
    problemOf('invalid_params', 'an endpoint has at most 10 labels'),
    'An endpoint has at most 10 labels',
  )
  t.equal(
    problemsOf([{ why: 'perSecond must be null' }, { why: 'name must be shorter' }]),
    'Request units a second are a whole number from 1 to 1,000,000. A name has 1 to 64 printable characters',
    'several, each in its words',
  )
  t.match(problemOf('endpoint_limit'), /delete one first/)
  t.equal(problemOf('invalid_key'), null)
  t.equal(problemOf('invalid_params'), null)
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
    ['never', 'just now', 'this hour', 'today, 09:00', '2 Mar 2025'],
  )
  const entry = { time: 0, actor: 'operator', action: 'endpoint.changed', target: 'ep_1' }
  const changed = (before: object, after: object) =>
    changeOf({ ...entry, before: { ...before }, after: { ...after } })
  t.equal(
    changed(
      { name: 'a', perSecond: null, management: true },
      { name: 'b', perSecond: 5000, management: false },
    ),
    'name: a → b; request units a second: none → 5,000; may manage the account: yes → no',
  )
  t.equal(
    changed(
      { labels: {}, allowedIps: ['::1', '10.0.0.0/8'] },
      { labels: { team: 'a', x: '' }, allowedIps: null },
    ),
    'labels: none → team=a, x; allowed addresses: ::1, 10.0.0.0/8 → none',
  )
  t.equal(changed({ name: 'אבג' }, { name: 'דהו' }), 'name: \u2068אבג\u2069 → \u2068דהו\u2069')
  t.equal(changeOf({ ...entry, before: null, after: { oldKeyExpiresAt: now } }), 'old key ends: 5 Mar, 14:20')
  t.end()
})

t.test('bug: a change of a long list was shown as if its parts were labels', t => {
  const entry = { time: 0, actor: 'operator', action: 'endpoint.changed', target: 'ep_1' }
  const before = { allowedIps: { count: 100, removed: [] }, labels: { count: '1' } }
  const after = { allowedIps: { count: 109, added: ['10.0.0.1', '10.0.0.2'], more: 7 }, labels: {} }
  t.equal(
    changeOf({ ...entry, before, after }),
    'allowed addresses: 100 in all → 109 in all, new: 10.0.0.1, 10.0.0.2 and 7 more; labels: count=1 → none',
  )
  t.end()
})

const restricted: Endpoint = {
  ...listed[1]!,
  allowedOrigins: ['https://a.example'],
  allowedIps: null,
  management: true,
  perSecond: 5,
  dailyLimit: null,
  expiresAt: 90_000,
}

t.test('bug: saving one restriction wrote all of them, also those that were changed elsewhere', t => {
  const now = formOf(restricted)
  t.strictSame(restrictionsChange(now, now), {}, 'an end at another hour than midnight stays, too')
  t.strictSame(restrictionsChange(now, { ...now, daily: '7', rate: '' }), { perSecond: null, dailyLimit: 7 })
  t.strictSame(restrictionsChange(now, { ...now, origins: 'https://b.example, https://c.example' }), {
    allowedOrigins: ['https://b.example', 'https://c.example'],
    management: true,
  })
  t.strictSame(restrictionsChange(now, { ...now, addresses: '::1\n10.0.0.0/8\n', manages: false }), {
    allowedIps: ['::1', '10.0.0.0/8'],
    management: false,
  })
  t.strictSame(restrictionsChange(now, { ...now, expires: '1970-01-03' }), { expiresAt: 172_800 })
  t.strictSame(restrictionsChange(now, { ...now, expires: '', origins: '' }), {
    allowedOrigins: null,
    management: true,
    expiresAt: null,
  })
  t.end()
})

t.test('bug: labels that another tab had changed were put back by saving the name', t => {
  t.strictSame(labelChange({ team: 'wallet', old: ' x ' }, 'old=x\nteam=wallet'), {})
  t.end()
})
