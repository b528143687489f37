import t from 'tap'
import { load, problemsOf, route, rules, VALID } from './directory.ts'

t.test('aliases and merge keys', async t => {
  const routes = `x-defaults:
  node: &node { network: ethereum, http: http://127.0.0.1:1, priority: 2, headers: &headers { A: b } }
  spare: &spare { priority: 3, weight: 5 }
routes:
  - { <<: *node, id: a, priority: 7 }
  - { <<: [*spare, *node], id: b }
  - { id: c, network: ethereum, http: http://127.0.0.1:2, headers: *headers }
  - { <<: { network: ethereum, http: http://127.0.0.1:3 }, id: d }
`
  const { config, problems } = await load({ routes })
  t.same(problems, [])
  t.match(config?.routes, [
    { id: 'a', http: 'http://127.0.0.1:1', priority: 7, headers: { A: 'b' } },
    { id: 'b', http: 'http://127.0.0.1:1', priority: 3, weight: 5 },
    { id: 'c', headers: { A: 'b' } },
    { id: 'd', http: 'http://127.0.0.1:3' },
  ])
})

t.test('a finding behind an alias is told once, where it is written', async t => {
  const methods = rules('aaa: &row { cost: -1 }', 'bbb: *row', 'ccc: { <<: *row, params: [1, 1] }')
  t.same(await problemsOf({ methods }), [
    'methods.yaml:7:23 families.evm.aaa.cost: must be at least 0, not -1',
  ])
})

t.test('a key that is missing behind an alias is missing at the alias', async t => {
  const routes = 'x-node: &node { network: ethereum }\nroutes:\n  - *node\n  - { <<: *node, id: b }\n'
  t.same(await problemsOf({ routes }), [
    'routes.yaml:3:5 routes[0]: "id" and "http" are missing',
    'routes.yaml:4:5 routes[1]: "http" is missing',
  ])
})

t.test('aliases to nothing', async t => {
  t.same(
    await problemsOf({ routes: `x-h: &headers { A: b }\n${route('headers: *heders', 'limits: *other')}` }),
    [
      'routes.yaml:6:14 routes[0].headers: no anchor of this name stands before this alias; did you mean *headers?',
      'routes.yaml:7:13 routes[0].limits: no anchor of this name stands before this alias; quote text that begins with "*"',
    ],
  )
  t.same(await problemsOf({ routes: route('<<: *nothing') }), [
    'routes.yaml:5:9 routes[0]: no anchor of this name stands before this alias; quote text that begins with "*"',
  ])
})

t.test('an anchor counts from where it stands, and the last of a name wins', async t => {
  const methods = `x-a: &a { cost: 2 }\n${VALID.methods.replace('eth_call: {}', 'eth_call: *a\n    eth_x: &a { cost: 7 }\n    eth_y: *a')}`
  const { config } = await load({ methods })
  t.equal(config?.families.evm['eth_call']?.cost, 2)
  t.equal(config?.families.evm['eth_y']?.cost, 7)
})

t.test('what cannot be merged', async t => {
  t.same(await problemsOf({ routes: `x-l: &l [1]\n${route('<<: *l', 'headers: { <<: 5 }')}` }), [
    'routes.yaml:6:9 routes[0]: only a map can be merged',
    'routes.yaml:7:20 routes[0].headers: only a map can be merged',
  ])
})

t.test('aliases inside what they refer to', async t => {
  t.same(await problemsOf({ routes: `x-h: &h { A: *h }\n${route('headers: *h')}` }), [
    'routes.yaml:1:14 x-h.A.A: *h stands inside what it refers to',
  ])
  const merged = await load({ routes: `x-h: &h { <<: *h, A: b }\n${route('headers: *h')}` })
  t.match(merged.problems, [{ line: 1, column: 15 }])
  t.same(merged.locate('routes.yaml', ['x-h', 'nothing']), { line: 1, column: 1 })
})

t.test('aliases of aliases of aliases end before the memory does', async t => {
  const floors = ['x-0: &n0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]']
  for (let n = 1; n < 12; n++) floors.push(`x-${n}: &n${n} [${`*n${n - 1}, `.repeat(10)}]`)
  const lines = await problemsOf({ routes: `${floors.join('\n')}\n${route()}` })
  t.ok(lines.length > 0)
  t.ok(lines.every(line => line.endsWith('these aliases grow too large')))
})

t.test('<< in quotes is a key like any other', async t => {
  t.same(await problemsOf({ routes: route('"<<": {}') }), [
    'routes.yaml:5:5 routes[0]["<<"]: unknown key; the keys here are id, network, http, ws, capabilities, history, priority, weight, headers, timeout, limits, batch, methods, errors, private, trace and enabled',
  ])
})
