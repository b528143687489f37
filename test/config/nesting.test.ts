/** A file may nest as deeply as it likes: what cannot be read is a problem with its place. */
import t from 'tap'
import { run } from '../support/cli.ts'
import { directory, ethereum, load, problemsOf, route, VALID } from './directory.ts'

const N = 5_000
const TOO_DEEP = /lists and maps nest too deeply here$/

const lines = (count: number, line: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => `${line(i)}\n`).join('')
/** A value that each of `count` anchors has inside the one before, under the last of these names. */
const aliases = (count: number): string =>
  `x-0: &a0 [1]\n${lines(count, i => `x-${i + 1}: &a${i + 1} [*a${i}]`)}`
const merges = (count: number): string =>
  `x-0: &a0 { priority: 2 }\n${lines(count, i => `x-${i + 1}: &a${i + 1} { <<: *a${i} }`)}`

t.test('defaults within defaults', async t => {
  const nested = (levels: number) => `${'${A:-'.repeat(levels)}http://127.0.0.1:2${'}'.repeat(levels)}`
  const routes = (levels: number) => route().replace('http://127.0.0.1:1', `"${nested(levels)}"`)
  t.match((await load({ routes: routes(16) })).config?.routes, [{ http: 'http://127.0.0.1:2' }])
  const tooDeep = 'routes.yaml:4:11 routes[0].http: the defaults of "${…}" nest too deeply; at most 16 levels'
  for (const levels of [17, N]) t.strictSame(await problemsOf({ routes: routes(levels) }), [tooDeep])
  const { code, stdout, stderr } = await run(['check', '--config', directory({ routes: routes(N) })])
  t.match({ code, stdout, stderr }, { code: 1, stdout: tooDeep, stderr: '' })
})

t.test('lists and maps within each other', async t => {
  const values: Readonly<Record<string, string>> = {
    'flow lists': `x: ${'['.repeat(N)}1${']'.repeat(N)}\n`,
    'flow lists without an end': `x: ${'['.repeat(N)}\n`,
    'flow maps': `x: ${'{a: '.repeat(N)}1${'}'.repeat(N)}\n`,
    'flow maps and a quote without an end': `x: ${'[{a: '.repeat(N)}"\n`,
    'block lists': `x:\n  ${'- '.repeat(N)}1\n`,
    'block maps': `x:\n${lines(2_000, i => `${' '.repeat(i + 1)}a:`)}`,
    'explicit keys': `x:\n  ${'? '.repeat(N)}1\n`,
    'flow lists, a few too many': `x: ${'['.repeat(70)}1${']'.repeat(70)}\n`,
    'block lists, a few too many': `x:\n  ${'- '.repeat(70)}1\n`,
  }
  for (const [what, text] of Object.entries(values)) {
    const problems = await problemsOf({ routes: `x-before: 1\nx-${text}${route()}` })
    t.equal(problems.length, 1, what)
    // A list without its end is noticed first where the stack of the parser is large.
    t.match(problems[0], what.includes('without an end') ? /^routes\.yaml:\d+:\d+/ : TOO_DEEP, what)
    t.notMatch(problems[0], /^routes\.yaml:1:/, 'it has its place')
  }
})

t.test('aliases within aliases, and merges within merges', async t => {
  for (const text of [aliases(N), merges(N)]) {
    const problems = await problemsOf({ routes: `${text}${route()}` })
    t.equal(problems.length, 1, 'the first says it for all')
    t.match(problems[0], TOO_DEEP)
  }
  const { config, problems } = await load({ routes: `${merges(60)}${route('<<: *a60')}` })
  t.strictSame(problems, [])
  t.match(config?.routes, [{ priority: 2 }])
})

t.test('values that go to a node', async t => {
  const question = (params: string) =>
    `${ethereum()}  bitcoin: { name: B, family: jsonrpc, chainId: b, head: { method: m, params: ${params} } }\n`
  const routes = `${VALID.routes}  - { id: b, network: bitcoin, http: 'http://127.0.0.1:2' }\n`
  const deep = (levels: number) => question('['.repeat(levels) + ']'.repeat(levels))
  t.strictSame(await problemsOf({ networks: deep(50), routes }), [])
  for (const networks of [deep(70), deep(N), `${aliases(N)}${question(`*a${N}`)}`]) {
    const problems = await problemsOf({ networks, routes })
    t.match(problems[0], TOO_DEEP)
    t.match(problems[0], /^networks\.yaml:/)
  }
})
