import { posix, win32 } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { isNormalPath, isPlainQuery, isRulePath } from '../../src/net/http-path.ts'
import { isRefusal } from '../../src/refusal/refusal.ts'
import { findRow } from '../../src/call/decide.ts'
import { findTarget } from '../../src/http/request-head.ts'
import { snapshotOf } from '../support/snapshot.ts'

/** Pieces by which one server reads another path than the next one does. */
const tricks = fc.constantFrom(
  '.',
  '..',
  '...',
  '%2e',
  '%2E',
  '.%2e',
  '%2e%2e',
  '%252e%252e',
  '%2f',
  '%2F',
  '%5c',
  '\\',
  '//',
  '/',
  ';',
  ';a=1',
  '%00',
  '\0',
  '%',
  '%zz',
  '%c0%ae',
  '%c0%af',
  '%e0%80%af',
  '%ff',
  '\u00e9',
  '\u2215',
  '%u002e',
  '..;',
  '?',
  '#',
  '%20',
  ' ',
  '\t',
  '%09',
  '%0d%0a',
  '&',
  '*',
  '{x}',
  '@',
  ':',
  '~',
  '+',
  'A',
  '%41',
  '%61',
  'open',
  'secret',
  'eth',
  'v1',
)
const part = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('/', '/open', '/secret', '/open/', '/eth/v1', '/..', '/.', '/%2e%2e/secret'),
  },
  { weight: 2, arbitrary: tricks },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 3 }) },
)
/** Half of them plain, so that what is accepted is met as often as what is not. */
const plain = fc.array(
  fc.constantFrom('open', 'secret', 'a', '0x1F', 'head', 'a.b', '..a', 'x~', 'a:b', 'a,b'),
  { minLength: 1 },
)
const path = fc.oneof(
  fc.array(part, { minLength: 1, maxLength: 8 }).map(parts => `/${parts.join('')}`),
  plain.map(parts => `/${parts.join('/')}`),
)

/** How servers behind us may read a path before they look it up. */
const readers: Readonly<Record<string, (path: string) => string>> = {
  url: path => new URL(`http://x${path}`).pathname,
  posix: path => posix.normalize(path),
  windows: path => win32.normalize(path).replaceAll('\\', '/'),
  decoded: path => decodeURIComponent(path),
  'decoded, then normalized': path => posix.normalize(decodeURIComponent(path)),
  'decoded twice': path => posix.normalize(decodeURIComponent(decodeURIComponent(path))),
  servlet: path => posix.normalize(path.replaceAll(/;[^/]*/g, '')),
  'cut at NUL': path => path.split('\0', 1)[0] ?? '',
  'without fragment': path => path.split(/[?#]/, 1)[0] ?? '',
  'without end slash': path => path.replace(/\/+$/, ''),
  'latin1 as UTF-8': path => Buffer.from(path, 'latin1').toString('utf8'),
}

t.test('a path in the normal form is read the same by everybody', t => {
  let accepted = 0
  fc.assert(
    fc.property(path, path => {
      if (!isNormalPath(path)) return
      accepted += 1
      for (const [name, read] of Object.entries(readers))
        if (read(path) !== path) throw new Error(`${name} reads ${path} as ${read(path)}`)
    }),
    { numRuns: 20_000 },
  )
  t.ok(accepted > 1_000, `${accepted} were accepted`)
  t.end()
})

const refusedForms = [
  '',
  '/',
  'a',
  '//',
  '/a//b',
  '/a/',
  '/./a',
  '/a/.',
  '/a/..',
  '/../a',
  '/a/../b',
  '/a/.../b',
  '/%2e%2e/a',
  '/%2E/a',
  '/a%2fb',
  '/a%2Fb',
  '/a%5cb',
  '/a\\b',
  '/a;b',
  '/a;',
  '/a/..;/b',
  '/a%00',
  '/a\0',
  '/%c0%ae/a',
  '/a b',
  '/a#b',
  '/a?b',
  '/é',
  '/a*',
  '/{a}',
  '/a%41',
  '/a|b',
  '/a"b',
  '/a<b',
  'http://x/a',
  `/${'a'.repeat(2048)}`,
]

t.test('what could be read in two ways has no normal form', t => {
  for (const path of refusedForms) t.notOk(isNormalPath(path), JSON.stringify(path).slice(0, 40))
  for (const path of ['/a', '/eth/v1/beacon/states/0xAb/validators', '/a.b/..c/d..', '/a:b/@c,d=e+f~$!-_'])
    t.ok(isNormalPath(path), path)
  t.end()
})

t.test('queries are printable ASCII of bounded length, without a fragment', t => {
  for (const query of ['', 'a=1&b=%20%2e&c=/..?;"\'<>\\^`{|}', 'x'.repeat(8192)]) t.ok(isPlainQuery(query))
  for (const query of ['#', 'a#b', ' ', '\0', '\n', '\u00e9', '\x7f', 'x'.repeat(8193)])
    t.notOk(isPlainQuery(query))
  t.end()
})

t.test('paths of rules', t => {
  for (const path of ['/a', '/a/{b}', '/a/{b}/c', '/a/{b}/*', '/*', '/a/b*', '/{a}/{b}/c.d*'])
    t.ok(isRulePath(path), path)
  const wrong = [
    '/',
    '',
    '/a//b',
    '/a/',
    '/a/../b',
    '/a/{b',
    '/a/b}',
    '/a/x{b}',
    '/a/*/b',
    '/a/{b}*',
    '/a/{}',
    '/a%2f',
    '/a**',
  ]
  for (const path of wrong) t.notOk(isRulePath(path), path)
  t.end()
})

const yaml = {
  networks: `
baseUrl: http://{subdomain}.example.test
networks:
  net: { name: Net, family: http, chainId: net, public: true }
`,
  routes: 'routes: [{ id: a, network: net, http: "http://127.0.0.1:1" }]',
  methods: `
notification: { cost: 1 }
families:
  http:
    "GET /open/*": {}
    "GET /open/secret/*": { cost: 5, tier: paid }
    "GET /open/{a}/secret": { cost: 7, tier: paid }
    "GET /open/{a}/*": { cost: 2 }
    "GET /open/exact": { cost: 3 }
    "GET /open/secret/plain": { cost: 4 }
    "GET /open/x*": { cost: 6 }
`,
}

t.test('the longest literal beginning governs, exact names before all', async t => {
  const network = (await snapshotOf(t, yaml)).networks['net']!
  const ruleOf = (path: string) => {
    const row = findRow(network, `GET ${path}`, 'http')
    return isRefusal(row) ? null : row.rule.match
  }
  const cases: readonly [string, string | null][] = [
    ['/open/a', 'GET /open/*'],
    ['/open/exact', 'GET /open/exact'],
    ['/open/exact/b', 'GET /open/{a}/*'],
    ['/open/a/secret', 'GET /open/{a}/secret'],
    ['/open/a/secret/b', 'GET /open/{a}/*'],
    ['/open/secret/a', 'GET /open/secret/*'],
    ['/open/secret/secret', 'GET /open/secret/*'],
    ['/open/secret/plain', 'GET /open/secret/plain'],
    ['/open/x/secret', 'GET /open/x*'],
    ['/open', null],
    ['/opens/a', null],
    ['/secret', null],
  ]
  for (const [path, match] of cases) t.equal(ruleOf(path), match, path)
})

t.test('no way of reading it brings a request under another rule than the one it was gated by', async t => {
  const snapshot = await snapshotOf(t, yaml)
  const ruleOf = (path: string) => {
    const row = findRow(snapshot.networks['net']!, `GET ${path}`, 'http')
    return isRefusal(row) ? null : row.rule.match
  }
  let reached = 0
  fc.assert(
    fc.property(path, rest => {
      const url = `/v1/rpc/public${rest}`
      const target = findTarget('net-rpc.example.test', url, snapshot)
      if (target.kind !== 'rpc' || target.path === '' || !isNormalPath(target.path)) return
      const rule = ruleOf(target.path)
      if (rule === null) return
      reached += 1
      if (!url.startsWith(`/v1/rpc/public${target.path}`)) throw new Error('another path than was asked for')
      for (const [name, read] of Object.entries(readers))
        if (ruleOf(read(target.path)) !== rule) throw new Error(`${name}: ${target.path} escapes ${rule}`)
    }),
    { numRuns: 20_000 },
  )
  t.ok(reached > 500, `${reached} were served`)
})
