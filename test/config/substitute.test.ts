import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { substitute, type Lookup } from '../../src/config/yaml/substitute.ts'
import { directory, ethereum, load, problemsOf, route } from './directory.ts'

const lookup = (env: Lookup['env'], files: Record<string, string> = {}): Lookup => ({
  env,
  readFile: path => (files[path] === undefined ? { failure: 'it does not exist' } : { text: files[path] }),
})

t.test('what becomes of a text', t => {
  const env = { A: 'one', B: '', C_1: 'x${A}' }
  const cases: Record<string, string> = {
    'plain $ and { }': 'plain $ and { }',
    '${A}': 'one',
    'a${A}b${A}c': 'aonebonec',
    '${B}': '',
    '${B:-two}': 'two',
    '${A:-two}': 'one',
    '${NOPE:-}': '',
    '${NOPE:-http://{slug}.x}': 'http://{slug}.x',
    '${NOPE:-${A}}': 'one',
    '${NOPE:-${B:-${A}}}': 'one',
    '${NOPE:-a:-b}': 'a:-b',
    '${C_1}': 'x${A}',
    '$${A}': '${A}',
    '$$${A}': '$${A}',
    '${A}$${A}${A}': 'one${A}one',
    '${file:/secret}': 'text',
    'x${file:/lines}': 'xa\nb',
  }
  const files = { '/secret': 'text\n', '/lines': 'a\nb\r\n\n' }
  for (const [text, expected] of Object.entries(cases))
    t.same(substitute(text, lookup(env, files)), { text: expected }, text)
  t.end()
})

t.test('what cannot be replaced', t => {
  for (const text of [
    '${',
    '${A',
    '${}',
    '${1A}',
    '${A B}',
    '${A-b}',
    '${A:+b}',
    '${file:}',
    'x ${NOPE}',
    '${file:/nope}',
  ])
    t.match(substitute(text, lookup({ A: 'a' })), { message: String }, text)
  t.end()
})

t.test('a value is never looked into', t => {
  fc.assert(
    fc.property(fc.string(), value => {
      t.same(substitute('<${X}>', lookup({ X: value })), { text: `<${value}>` })
    }),
  )
  t.end()
})

t.test('a text without ${ stays as it is', t => {
  fc.assert(
    fc.property(
      fc.string().filter(text => !text.includes('${')),
      text => t.same(substitute(text, lookup({})), { text }),
    ),
  )
  t.end()
})

t.test('a plain scalar is typed again, a quoted one stays text', async t => {
  const routes = route('priority: ${N}', 'weight: ${W}5', 'enabled: ${ON}', 'headers: { A: "${N}" }')
  const { config, problems } = await load({ routes }, { N: '0x10', W: '1.', ON: 'false' })
  t.same(problems, [])
  t.match(config?.routes, [{ priority: 16, weight: 1.5, enabled: false, headers: { A: '0x10' } }])
  t.same(await problemsOf({ routes: route('priority: "${N}"', 'enabled: ${ON}') }, { N: '1', ON: 'yes' }), [
    'routes.yaml:5:15 routes[0].priority: "1" is not a whole number; remove the quotes',
    'routes.yaml:6:14 routes[0].enabled: "yes" is not true or false',
  ])
  t.same(await problemsOf({ networks: ethereum('name: ${N}') }, { N: '1' }), [
    'networks.yaml:7:11 networks.ethereum.name: 1 is a number, not text; quote it',
  ])
})

t.test('a plain scalar has no spaces around it', async t => {
  const { config } = await load({ routes: route('priority: ${N}', 'timeout: ${T}') }, { N: ' 3\n', T: '5s ' })
  t.match(config?.routes, [{ priority: 3, timeout: 5000 }])
})

t.test('an empty result is an absent key or item', async t => {
  const routes = route(
    'ws: ${WS:-}',
    'timeout: "${T}"',
    'capabilities:',
    '  - ${CAP:-}',
    '  - trace',
    '  - tracee',
  )
  const { config, problems } = await load({ routes: routes.replace('tracee', 'archive') }, { T: '' })
  t.same(problems, [])
  t.match(config?.routes, [{ ws: null, timeout: null, capabilities: ['trace', 'archive'] }])
  t.same(await problemsOf({ routes }, { T: '' }), [
    'routes.yaml:10:9 routes[0].capabilities[1]: "tracee" is not a known capability; did you mean "trace"?',
  ])
  t.same(await problemsOf({ routes: route().replace('http://127.0.0.1:1', '${URL:-}') }), [
    'routes.yaml:2:5 routes[0]: "http" is missing; it is written, but its ${…} is empty, which counts as absent',
  ])
})

t.test('what is missing or wrong is told at its place, once', async t => {
  const routes = route(
    'ws: ${NOPE}',
    'priority: ${PRIORITY}',
    'weight: ${WEIGHT:-heavy}',
    'timeout: ${a b}',
    'headers: { A: "${file:/nowhere/secret}" }',
    'enabled: ${OPEN',
  )
  t.same(await problemsOf({ routes }), [
    'routes.yaml:5:9 routes[0].ws: the environment has no NOPE; set it, or write ${NOPE:-default}',
    'routes.yaml:6:15 routes[0].priority: the environment has no PRIORITY; set it, or write ${PRIORITY:-default}',
    'routes.yaml:7:13 routes[0].weight: "heavy" is not a number',
    'routes.yaml:8:14 routes[0].timeout: "${a b}" is not a substitution; write ${NAME}, ${NAME:-default} or ${file:/path}, and $${ for a plain ${',
    'routes.yaml:9:19 routes[0].headers.A: cannot read the file /nowhere/secret: it does not exist',
    'routes.yaml:10:14 routes[0].enabled: "${" without its "}"; write ${NAME}, ${NAME:-default} or ${file:/path}, and $${ for a plain ${',
  ])
})

t.test('files are read afresh, and relative to the directory', async t => {
  const dir = directory({ routes: route('headers: { A: "Bearer ${file:secret.txt}" }') })
  const header = async () => (await loadConfig(dir, {})).config?.routes[0]?.headers['A']
  writeFileSync(join(dir, 'secret.txt'), 'first\n')
  t.equal(await header(), 'Bearer first')
  writeFileSync(join(dir, 'secret.txt'), 'second\n')
  t.equal(await header(), 'Bearer second')
})

t.test('keys and comments are left alone', async t => {
  const { config, problems } = await load({ routes: route('headers:', '  X-$A: b # ${NOPE}') })
  t.same(problems, [])
  t.same(Object.keys(config?.routes[0]?.headers ?? {}), ['X-$A'])
})
