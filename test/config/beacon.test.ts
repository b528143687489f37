import { fileURLToPath } from 'node:url'
import t from 'tap'
import { loadSnapshot } from '../../src/snapshot/load-snapshot.ts'
import { findMethod } from '../../src/snapshot/find-method.ts'
import { runJson } from '../support/cli.ts'

const dir = fileURLToPath(new URL('../../examples/beacon', import.meta.url))

t.test('it has no problems, without an environment and with one', async t => {
  const counts = { networks: 1, routes: 2, methods: 85, plans: 3 }
  t.strictSame(await runJson(dir, ['check']), { ok: true, dir, problems: [], counts })
  const env = {
    BEACON_A_URL: 'https://a.example/x?key=secret',
    BEACON_B_URL: 'http://b.example',
    BEACON_B_ENABLED: 'true',
  }
  t.strictSame(await runJson(dir, ['check'], env), { ok: true, dir, problems: [], counts })
})

const { snapshot } = await loadSnapshot(dir, {})
const network = snapshot!.networks['ethereum-beacon']!

t.test('the network', t => {
  t.match(network, { family: 'http', subdomain: 'ethereum-beacon-rpc', public: true, maxCost: 20 })
  t.end()
})

const cases: readonly [string, string | null, number, string, readonly string[]][] = [
  ['GET /eth/v1/node/syncing', 'GET /eth/v1/node/syncing', 1, 'any', []],
  ['GET /eth/v1/events', 'GET /eth/v1/events', 5, 'any', []],
  ['GET /eth/v1/beacon/states/head/validators', 'GET /eth/v1/beacon/states/{state}/validators', 5, 'any', []],
  [
    'GET /eth/v1/beacon/states/head/validators/1',
    'GET /eth/v1/beacon/states/{state}/validators/{validator}',
    1,
    'any',
    [],
  ],
  ['POST /eth/v2/beacon/blocks', 'POST /eth/v2/beacon/blocks', 5, 'paid', []],
  [
    'POST /eth/v1/validator/register_validator',
    'POST /eth/v1/validator/register_validator',
    1,
    'paid',
    ['validator'],
  ],
  ['GET /eth/v2/debug/beacon/states/head', 'GET /eth/v2/debug/beacon/states/{state}', 20, 'paid', ['debug']],
  ['GET /eth/v1/node/peers', null, 0, '', []],
  ['GET /eth/v1/keystores', null, 0, '', []],
  ['DELETE /eth/v1/keystores', null, 0, '', []],
]

t.test('what it serves, at what cost and to whom', t => {
  for (const [method, match, cost, tier, needs] of cases) {
    const row = findMethod(network, method)
    if (match === null) t.equal(row, null, method)
    else t.match(row?.rule, { match, cost, tier, needs }, method)
  }
  t.end()
})

t.test('explain answers for a verb and path, whatever its query', async t => {
  const explained = await runJson(dir, ['explain', 'ethereum-beacon', 'GET /eth/v1/node/syncing?x=/../'])
  t.strictSame(explained, {
    network: 'ethereum-beacon',
    method: 'GET /eth/v1/node/syncing',
    plan: 'free',
    live: false,
    outcome: 'forward',
    rule: { match: 'GET /eth/v1/node/syncing', cost: 1, tier: 'any', needs: [] },
    routes: [
      { id: 'beacon-a', able: true },
      { id: 'beacon-b', able: false, why: 'it is not enabled' },
    ],
  })
  await t.rejects(
    runJson(dir, ['explain', 'ethereum-beacon', 'GET /eth/v1/node/../node/syncing']),
    /invalid_request/,
  )
  await t.rejects(runJson(dir, ['explain', 'ethereum-beacon', 'GET /eth/v1/node/peers']), /method_not_found/)
})
