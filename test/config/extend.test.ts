import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { formatProblem } from '../../src/config/problem.ts'
import { root } from '../support/paths.ts'
import { directory, ethereum, load, problemsOf, rules, VALID } from './directory.ts'

const shipped = (await loadConfig(root, {})).config!

/** A directory whose methods.yaml extends base.yaml beside it. */
function extending(base: string, own = ''): string {
  const dir = directory({ methods: `extends: base.yaml\n${own}` })
  writeFileSync(join(dir, 'base.yaml'), base)
  return dir
}

async function told(dir: string): Promise<string[]> {
  return (await loadConfig(dir, {})).problems.map(formatProblem)
}

t.test('catalogue is the methods.yaml that ships with the program', async t => {
  const { config, problems } = await load({ methods: 'extends: catalogue\n' })
  t.same(problems, [])
  t.same(config?.families, shipped.families)
  t.same(config?.extended, [join(root, 'methods.yaml')])
})

t.test('rows are laid over those of the same name key by key, null removes a row or a key', async t => {
  const own = `families:
  evm:
    eth_call: { cost: 2 }
    trace_block: { tier: null }
    eth_getProof: null
    own_method: { params: [0, 0] }
`
  const { config, problems } = await loadConfig(extending(VALID.methods, own), {})
  t.same(problems, [])
  t.same(config?.families, {
    evm: {
      eth_call: { cost: 2 },
      trace_block: { cost: 20, needs: ['trace'] },
      eth_subscribe: { needs: ['ws'], subscribe: 'eth_unsubscribe' },
      own_method: { params: [0, 0] },
    },
    solana: { getSlot: {} },
    http: {},
    jsonrpc: {},
  })
})

t.test('a row without keys leaves the row as it is, and the notification may be another one', async t => {
  const own = 'notification: { cost: 3 }\nfamilies:\n  evm:\n    trace_block: {}\n'
  const { config } = await loadConfig(extending(VALID.methods, own), {})
  t.same(config?.families.evm['trace_block'], { cost: 20, tier: 'paid', needs: ['trace'] })
  t.same(config?.notification, { cost: 3 })
})

t.test('a file that is extended may extend another', async t => {
  const dir = extending('extends: deep.yaml\nfamilies:\n  evm:\n    eth_call: { cost: 4 }\n')
  writeFileSync(join(dir, 'deep.yaml'), VALID.methods)
  const { config } = await loadConfig(dir, {})
  t.same(config?.families.evm['eth_call'], { cost: 4 })
  t.same(config?.families.evm['eth_getProof'], { cost: 3 })
  t.same(config?.extended, [join(dir, 'base.yaml'), join(dir, 'deep.yaml')])
})

t.test('what is wrong has the place and the file where it stands', async t => {
  t.same(await told(extending(rules('eth_getLogs: { cost: five }'))), [
    'base.yaml:7:26 families.evm.eth_getLogs.cost: "five" is not a whole number',
  ])
  t.same(await told(extending('families: [\n')), [
    'base.yaml:2:1: a [ or { before this does not end, or it is not indented like its neighbours',
  ])
  const own =
    'families:\n  evm:\n    eth_cal: null\n    eth_call: { tire: paid }\n    trace_block: { hedge: null }\n'
  t.same(await told(extending(VALID.methods, own)), [
    'methods.yaml:4:5 families.evm.eth_cal: eth_cal is not in what this file extends; did you mean "eth_call"?',
    'methods.yaml:5:17 families.evm.eth_call.tire: unknown key; did you mean "tier"?',
    'methods.yaml:6:20 families.evm.trace_block.hedge: hedge is not in what this file extends',
  ])
})

t.test('what cannot be extended', async t => {
  t.same(await problemsOf({ methods: 'extends: catalog\n' }), [
    'methods.yaml:1:10 extends: cannot read "catalog": it does not exist; write catalogue, or the path of a file',
  ])
  t.same(await told(extending('extends: methods.yaml\n')), [
    'base.yaml:1:10 extends: "methods.yaml" extends this file in turn, or is one of too many',
  ])
  t.same(await problemsOf({ methods: 'extends: [catalogue]\n' }), [
    'methods.yaml:1:10 extends: a list is not text',
  ])
})

t.test('null is no row where nothing is extended', async t => {
  t.same(await problemsOf({ methods: rules('eth_getLogs: null') }), [
    'methods.yaml:7:18 families.evm.eth_getLogs: value is missing',
  ])
})

t.test('rows for a dialect are those of the networks that say it', async t => {
  const methods = rules('own_a: { dialects: [alpha, beta] }', 'own_b: { dialects: [beta] }')
  t.same(await problemsOf({ methods, networks: ethereum('dialect: alpha') }), [])
  t.same(await problemsOf({ methods, networks: ethereum('dialect: alpah') }), [
    'networks.yaml:8:14 networks.ethereum.dialect: warning: no rule names the dialect "alpah"; did you mean "alpha"? [unknown-dialect]',
  ])
  t.same(await problemsOf({ methods, networks: ethereum('dialect: zzzzzz') }), [
    'networks.yaml:8:14 networks.ethereum.dialect: warning: no rule names the dialect "zzzzzz"; they name alpha, beta [unknown-dialect]',
  ])
})
