import t from 'tap'
import type { Config } from '../../src/config/types.ts'
import { changesInSteps } from '../../src/reload/changes.ts'
import { atOnce } from '../../src/reload/time-slices.ts'
import { load, type Yaml } from '../support/snapshot.ts'

const networks =
  'baseUrl: http://{subdomain}.example.test\nnetworks:\n  eth: { name: Test, family: evm, chainId: 1 }\n'
const routes = 'routes:\n  - { id: eth-a, network: eth, http: "http://127.0.0.1:1/secret" }\n'
const plans = (perSecond: number): string =>
  `plans:\n  free: { tiers: [any], rate: { perSecond: ${perSecond}, burst: 50 } }\n`

t.test('one readable line for each change, and no secret in any', async t => {
  const config = async (yaml: Yaml) => (await load(t, yaml)).config!
  const before = await config({ networks, routes, plans: plans(25) })
  t.strictSame(atOnce(changesInSteps(before, before)), [])
  const after = await config({
    networks: networks.replace('name: Test', 'name: Best, public: false'),
    routes: `${routes.replace('secret', 'other-secret').replace(' }', ', weight: 3 }')}  - { id: eth-b, network: eth, http: "http://127.0.0.1:2", priority: 2 }\n`,
    plans: plans(50),
    methods: 'families: { evm: { eth_call: { cost: 2 }, eth_new: { cost: 7 } } }',
  })
  t.strictSame(atOnce(changesInSteps(before, after)), [
    'networks.yaml: ~ eth name Test → Best',
    'routes.yaml: + eth-b (priority 2)',
    'routes.yaml: ~ eth-a http changed',
    'routes.yaml: ~ eth-a weight 1 → 3',
    'methods.yaml: + eth_new (cost 7)',
    'methods.yaml: ~ eth_call reads state → none',
    'methods.yaml: ~ eth_call params [1, 4] → none',
    'methods.yaml: ~ eth_call block {at: 1, kind: ref, omitted: latest} → none',
    'methods.yaml: ~ eth_call cost none → 2',
    'plans.yaml: ~ free rate.perSecond 25 → 50',
  ])
})

t.test('bug: a webhook and what signs it were written in clear', async t => {
  const none = (await load(t, { networks, routes })).config!
  const config = (url: string, secret: string): Config => {
    const { gateway } = none
    return { ...none, gateway: { ...gateway, alerts: { ...gateway.alerts, webhook: { url, secret } } } }
  }
  const before = config('https://a.example/x', `whsec_${'a'.repeat(32)}`)
  const after = config('https://b.example/y', `whsec_${'b'.repeat(32)}`)
  const changed = ['gateway.yaml: ~ alerts.webhook changed']
  t.strictSame(atOnce(changesInSteps(none, before)), changed)
  t.strictSame(atOnce(changesInSteps(before, after)), changed)
  t.strictSame(atOnce(changesInSteps(after, none)), changed)
})

t.test('bug: sockets of a plan were taken for a secret, as a URL of a route has that name', async t => {
  const config = async (connections: number) =>
    (
      await load(t, {
        networks,
        routes,
        plans: `plans: { free: { tiers: [any], ws: { connections: ${connections} } } }`,
      })
    ).config!
  t.match(atOnce(changesInSteps(await config(5), await config(6))), [
    /^plans\.yaml: ~ free ws\.connections 5 → 6$/,
  ])
})

t.test('rows about node errors are a change of their own, and of no connection', async t => {
  const rows = (file: string, route: string): string =>
    `errors: [${file}]\nroutes:\n  - { id: eth-a, network: eth, http: "http://127.0.0.1:1/secret", errors: [${route}] }\n`
  const config = async (text: string) => (await load(t, { networks, routes: text })).config!
  const before = await config(rows('', ''))
  const after = await config(
    rows(
      '{ code: -32000, class: missing }',
      '{ text: shard is offline, methods: [eth_call], class: internal }',
    ),
  )
  t.strictSame(atOnce(changesInSteps(before, after)), [
    'routes.yaml: ~ eth-a errors [] → [{codes: none, text: shard is offline, methods: [eth_call], family: none, class: internal}]',
    'routes.yaml: ~ errors [] → [{codes: [-32000], text: none, methods: none, family: none, class: missing}]',
  ])
})
