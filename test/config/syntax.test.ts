import t from 'tap'
import { problemsOf, route, VALID } from './directory.ts'

/** A broken plans.yaml, and the line that says so. */
const CASES: Record<string, [text: string, problem: string | RegExp]> = {
  'a tab': ['plans:\n\tfree: {}\n', '2:1: a tab cannot indent; use spaces'],
  'a second document': [
    `${VALID.plans}---\nplans: {}\n`,
    '4:1: a second document begins here; a file holds one; remove the "---"',
  ],
  'a second colon': [
    'plans:\n  free: tiers: [any]\n',
    '2:9: a second ": " in one line, or a line indented too far; quote text that holds ": "',
  ],
  'a quote that does not end': ['plans: "abc\n', '1:8: a quote begins here and does not end'],
  'a list that does not end': [
    'plans:\n  free: { tiers: [any }\n',
    '2:23: a [ or { before this does not end, or it is not indented like its neighbours',
  ],
  'nesting without end': [
    `plans: ${'['.repeat(9000)}${']'.repeat(9000)}`,
    /^1:\d+: lists and maps nest too deeply here$/,
  ],
  'a key that is a list': [
    'plans:\n  ? [a]\n  : b\n',
    '2:5: a key must be text, not a list, a map or an alias',
  ],
  'a key out of line': [
    'plans:\n    free: { tiers: [any] }\n  paid: { tiers: [any] }\n',
    '3:1: a [ or { before this does not end, or it is not indented like its neighbours',
  ],
  'an unknown tag': [
    'plans: !thing {}\n',
    '1:8: this tag is not known here; quote text that begins with "!"',
  ],
  'a bare substitution between brackets': [
    'plans:\n  free: { tiers: [${TIER}] }\n',
    '2:20: a bare "${…}" cannot stand inside [ ] or { }; quote it, or use lines of their own',
  ],
}

for (const [name, [text, problem]] of Object.entries(CASES))
  t.test(name, async t => {
    const lines = await problemsOf({ plans: text })
    t.match(
      lines.map(line => line.replace('plans.yaml:', '')),
      [problem],
    )
    t.equal(lines.length, 1)
  })

t.test('broken syntax hides its own file only', async t => {
  t.same(
    await problemsOf({ plans: 'plans:\n\tfree: {}\n', routes: VALID.routes.replace('trace]', 'tracee]') }),
    [
      'plans.yaml:2:1: a tab cannot indent; use spaces',
      'routes.yaml:5:29 routes[0].capabilities[1]: "tracee" is not a known capability; did you mean "trace"?',
    ],
  )
})

t.test('a key written twice, at the second one, with the rest of the file still checked', async t => {
  t.same(await problemsOf({ routes: route('http: http://127.0.0.1:2', 'weight: 0') }), [
    'routes.yaml:5:5 routes[0].http: duplicate key',
    'routes.yaml:6:13 routes[0].weight: must be above 0, not 0',
  ])
  t.same(await problemsOf({ plans: `${VALID.plans}  free: { tiers: [any] }\n` }), [
    'plans.yaml:4:3 plans.free: duplicate key',
  ])
  t.same(await problemsOf({ plans: `${VALID.plans}"plans": {}\n` }), ['plans.yaml:4:1 plans: duplicate key'])
})

t.test('files that say nothing, or are no map', async t => {
  t.same(await problemsOf({ plans: '', methods: '# nothing\n', networks: '[]', routes: 'text' }), [
    'methods.yaml:1:1: "families" is missing',
    'networks.yaml:1:1: a list is not a map of keys',
    'plans.yaml:1:1: "plans" is missing',
    'routes.yaml:1:1: "text" is not a map of keys',
  ])
})

t.test('names that every object inherits are plain keys', async t => {
  t.same(await problemsOf({ plans: `${VALID.plans}__proto__: {}\nconstructor: {}\n` }), [
    'plans.yaml:4:1 __proto__: unknown key; the keys here are plans',
    'plans.yaml:5:1 constructor: unknown key; the keys here are plans',
  ])
})
