import t from 'tap'
import { isDenied } from '../../src/config/denied.ts'
import { formatProblem } from '../../src/config/problem.ts'
import { findMethod } from '../../src/snapshot/find-method.ts'
import { message } from '../support/access.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { shippedMethods } from '../support/shipped-methods.ts'
import { load, snapshotOf } from '../support/snapshot.ts'
import { dangerous, harmless, namesOf } from './node-methods.ts'

/** Seen: names that reset, delete or profile a node, or send in bulk, were forwarded under a pattern such as `debug_*`. */

const bad = [...new Set(namesOf(dangerous))]
const shipped = Object.values((await shippedMethods()).families).flatMap(Object.keys)
const good = [...new Set([...namesOf(harmless), ...shipped])]
const letters = 'abcdefghijklmnopqrstuvwxyz'.split('')
const open = `families: { evm: { ${letters.map(letter => `"${letter}*": {}`).join(', ')} } }`

t.test('patterns never match what changes a node', async t => {
  const network = (await snapshotOf(t, { methods: open })).networks['eth']!
  t.ok(bad.length >= 150, `${bad.length} names`)
  t.strictSame(
    bad.filter(method => findMethod(network, method) !== null),
    [],
  )
})

t.test('patterns match what does not', async t => {
  const network = (await snapshotOf(t, { methods: open })).networks['eth']!
  const names = good.filter(method => !method.includes('/'))
  t.ok(names.length >= 150, `${names.length} names`)
  t.strictSame(
    names.filter(method => findMethod(network, method) === null),
    [],
  )
  t.same(good.filter(isDenied), [])
})

t.test('a row that names a denied method is a problem, whatever its shape', async t => {
  for (const method of [
    'debug_resetHead',
    'reth_jit',
    'debug_batchSendRawTransaction',
    'perm_addNodesToAllowlist',
  ]) {
    const { problems } = await load(t, { methods: `families: { evm: { ${method}: {} } }` })
    t.match(problems.map(formatProblem).join('\n'), new RegExp(`${method} is never forwarded`))
  }
})

t.test('beacon nodes are not maintained through a path pattern', t => {
  for (const method of [
    'POST /lighthouse/finalize',
    'POST /lighthouse/database/reconstruct',
    'GET /teku/v1/admin/liveness',
    'POST /eth/v1/keystores',
    'DELETE /eth/v1/remotekeys',
    'POST /eth/v1/validator/0x12/feerecipient',
    'POST /prysm/v1/node/trusted_peers',
  ])
    t.ok(isDenied(method), method)
  for (const method of [
    'GET /eth/v1/node/health',
    'GET /eth/v1/events',
    'POST /eth/v1/beacon/pool/attestations',
    'POST /eth/v1/validator/duties/attester/12',
    'POST /eth/v1/beacon/states/head/validators',
    'GET /eth/v2/debug/beacon/states/head',
    'GET /lighthouse/syncing',
    'GET /prysm/v1/node/trusted_peers',
  ])
    t.notOk(isDenied(method), method)
  t.end()
})

t.test('through the running gateway', async t => {
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await startGateway(t, {
    networks: {
      alpha: { chainId: 1001, public: true },
      sol: { family: 'solana', chainId: 'sol', public: true },
    },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: node.url },
      { id: 'sol-a', network: 'sol', http: node.url },
    ],
    methods: `notification: { cost: 1 }
families:
  evm: { ${letters.map(letter => `"${letter}*": {}`).join(', ')} }
  solana: { ${letters.map(letter => `"${letter}*": {}`).join(', ')} }
`,
    plans: { public: { tiers: ['any'], rate: { perSecond: 100_000, burst: 100_000 }, maxBatch: 1000 } },
  })
  for (const slug of ['alpha', 'sol']) {
    const body = `[${bad.map((method, id) => message(method, [], id)).join()}]`
    const replies: any[] = JSON.parse((await gateway.send({ path: `/${slug}/v1/rpc/public`, body })).text)
    const reasons = Object.fromEntries(
      replies.map(({ id, error }) => [bad[id as number], error?.data?.reason]),
    )
    t.strictSame(reasons, Object.fromEntries(bad.map(method => [method, 'method_not_found'])), slug)
  }
  t.same(node.calls, [], 'nothing reached the node')
})
