import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { formatProblem } from '../../src/config/problem.ts'
import { directory, problemsOf, VALID } from './directory.ts'

t.test('a valid directory has no problems', async t => {
  t.same(await problemsOf({}), [])
  t.same(await problemsOf({ gateway: '# every key has a default\n' }), [])
})

t.test('missing files, but for gateway.yaml', async t => {
  t.same(await problemsOf({ networks: null, routes: null, methods: null, plans: null }), [
    'methods.yaml:1:1: this file is missing',
    'networks.yaml:1:1: this file is missing',
    'plans.yaml:1:1: this file is missing',
    'routes.yaml:1:1: this file is missing',
  ])
})

t.test('a missing file is not held against the others', async t => {
  const texts = {
    networks: null,
    routes: VALID.routes.replace('trace]', 'tracee, other]'),
    plans: VALID.plans.replace('paid]', 'paid, paidd, gold]'),
  }
  t.same(await problemsOf(texts), [
    'networks.yaml:1:1: this file is missing',
    'plans.yaml:3:30 plans.paid.tiers[2]: no rule has the tier "paidd"; did you mean "paid"?',
    'routes.yaml:5:29 routes[0].capabilities[1]: "tracee" is not a known capability; did you mean "trace"?',
  ])
  const routes = VALID.routes.replace('trace]', 'anything, ws]')
  t.same(await problemsOf({ methods: null, routes, plans: VALID.plans.replace('paid]', 'gold]') }), [
    'methods.yaml:1:1: this file is missing',
    'routes.yaml:5:39 routes[0].capabilities[2]: "ws" is not declared here; it follows from the ws URL',
  ])
})

t.test('a directory that cannot be read is one problem', async t => {
  const dir = directory({})
  const lines = async (path: string) => (await loadConfig(path, {})).problems.map(formatProblem)
  t.same(await lines(join(dir, 'nothing')), [
    `${join(dir, 'nothing')}:1:1: cannot read the configuration directory: it does not exist`,
  ])
  t.same(await lines(join(dir, 'plans.yaml')), [
    `${join(dir, 'plans.yaml')}:1:1: cannot read the configuration directory: it is not a directory`,
  ])
})

t.test('a file that cannot be read', async t => {
  const dir = directory({ gateway: null })
  rmSync(join(dir, 'plans.yaml'))
  mkdirSync(join(dir, 'plans.yaml'))
  writeFileSync(join(dir, 'gateway.yaml'), Buffer.from([0x61, 0x3a, 0x20, 0xff]))
  const { config, problems } = await loadConfig(dir, {})
  t.equal(config, null)
  t.same(problems.map(formatProblem), [
    'gateway.yaml:1:1: cannot read this file: it is not valid UTF-8',
    'plans.yaml:1:1: cannot read this file: it is a directory',
  ])
})

t.test(
  'a file that may not be read',
  { skip: process.getuid?.() === 0 && 'root reads everything' },
  async t => {
    const dir = directory({})
    chmodSync(join(dir, 'plans.yaml'), 0)
    const { problems } = await loadConfig(dir, {})
    t.same(problems.map(formatProblem), ['plans.yaml:1:1: cannot read this file: permission denied'])
  },
)

t.test('a byte order mark and Windows line ends change nothing', async t => {
  const plans = `\uFEFF${VALID.plans.replaceAll('\n', '\r\n')}`
  t.same(await problemsOf({ plans }), [])
  t.same(await problemsOf({ plans: plans.replace('burst: 50', 'burst: 0') }), [
    'plans.yaml:2:55 plans.free.rate.burst: must be at least 1, not 0',
  ])
})
