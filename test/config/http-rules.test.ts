import t from 'tap'
import { problemsOf, VALID } from './directory.ts'

/** The rules stand from line 10 on, indented by four. */
function http(...lines: string[]): string {
  return `${VALID.methods}  http:\n${lines.map(line => `    ${line}\n`).join('')}`
}

const segments = 'segments hold letters, digits and ._~:@,=+$!-, or are a {name}; a * ends a prefix'

t.test('paths that no request can have', async t => {
  const methods = http(
    '"GET /a/{b}/c": {}',
    '"GET /a/*": {}',
    '"GET /": {}',
    '"GET /a//b": {}',
    '"GET /a/../b": {}',
    '"GET /a%2fb": {}',
    '"GET /a/": {}',
    '"GET /a/x{b}": {}',
    '"POST /a/{c}/d": {}',
  )
  const problem = (line: number, path: string) =>
    `methods.yaml:${line}:5 families.http["GET ${path}"]: no request has the path "${path}"; ${segments}`
  t.same(await problemsOf({ methods }), [
    problem(12, '/'),
    problem(13, '/a//b'),
    problem(14, '/a/../b'),
    problem(15, '/a%2fb'),
    problem(16, '/a/'),
    problem(17, '/a/x{b}'),
  ])
})

t.test('keys that mean nothing there', async t => {
  const methods = http(
    '"GET /a": { cost: 2, tier: paid, needs: [trace], timeout: fast, enabled: true, networks: [] }',
    '"GET /b": { retry: safe, answer: "true" }',
  )
  t.same(await problemsOf({ methods }), [
    'methods.yaml:11:17 families.http["GET /b"].retry: "retry" means nothing on a verbatim HTTP network; remove it',
    'methods.yaml:11:30 families.http["GET /b"].answer: "answer" means nothing on a verbatim HTTP network; remove it',
  ])
})

t.test('two rules for the same paths', async t => {
  const methods = http('"GET /a/{b}/c": {}', '"GET /a/{x}/c": {}', '"GET /a/{x}/*": {}')
  t.same(await problemsOf({ methods }), [
    'methods.yaml:11:5 families.http["GET /a/{x}/c"]: "GET /a/{b}/c" covers the same paths; remove one of them',
  ])
})

t.test('routes name rules, and paths that rules cover', async t => {
  const methods = http('"GET /a/{b}/c": {}', '"GET /d/*": {}')
  const networks = `${VALID.networks}  beacon: { name: Beacon, family: http, chainId: beacon }\n`
  const routes = (deny: string) =>
    `${VALID.routes}  - { id: b, network: beacon, http: 'http://x', methods: { deny: ['${deny}'] } }\n`
  for (const name of ['GET /a/{b}/c', 'GET /a/1/c', 'GET /a/*', 'GET /d/e', 'GET /d/*'])
    t.same(await problemsOf({ methods, networks, routes: routes(name) }), [], name)
  t.match(await problemsOf({ methods, networks, routes: routes('GET /a/1/d') }), [
    /is not a method of beacon/,
  ])
})
