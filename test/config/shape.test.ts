import t from 'tap'
import { ethereum, problemsOf, route, rules, VALID } from './directory.ts'

t.test('unknown keys', async t => {
  const routes = 'routes:\n  - id: a\n    netwrok: ethereum\n    http: http://x\n    capabilites: []\n'
  t.same(await problemsOf({ routes, gateway: 'limits: { bodyy: 1MiB, foo: 1 }\n' }), [
    'gateway.yaml:1:11 limits.bodyy: unknown key; did you mean "body"?',
    'gateway.yaml:1:24 limits.foo: unknown key; the keys here are body, batchReply, wsReply, connections, connectionsPerAddress, inFlight, memory, socketCalls, depth and response',
    // Not also missing: that would be a second sentence about the same slip.
    'routes.yaml:3:5 routes[0].netwrok: unknown key; did you mean "network"?',
    'routes.yaml:5:5 routes[0].capabilites: unknown key; did you mean "capabilities"?',
  ])
})

t.test('a key that was removed says what replaces it', async t => {
  t.same(await problemsOf({ gateway: 'limits: { bodies: 64MiB }\n' }), [
    'gateway.yaml:1:11 limits.bodies: unknown key; it was replaced by limits.memory, which bounds everything held for clients (default 512MiB)',
  ])
})

t.test('keys that begin with x- are the author’s', async t => {
  const own = 'x-mine: [1, { a: b }]\n'
  t.same(
    await problemsOf({
      networks: own + VALID.networks,
      routes: own + VALID.routes,
      methods: own + VALID.methods,
      plans: own + VALID.plans,
      gateway: own,
    }),
    [],
  )
})

t.test('missing keys, all of a map in one sentence', async t => {
  const texts = {
    networks: 'networks:\n  ethereum: {}\n  solana: { family: solana }\n',
    routes: 'routes:\n  - id: a\n',
    plans: '{}',
    methods: rules('x_y: { block: { at: 1 } }'),
    gateway: 'tls: { cert: a.pem }\n',
  }
  t.same(await problemsOf(texts), [
    'gateway.yaml:1:1 tls: "key" is missing',
    'methods.yaml:7:12 families.evm.x_y.block: "kind" is missing',
    'networks.yaml:1:1: "baseUrl" is missing',
    'networks.yaml:2:3 networks.ethereum: "name", "family" and "chainId" are missing',
    'networks.yaml:3:3 networks.solana: "name" and "chainId" are missing',
    'plans.yaml:1:1: "plans" is missing',
    'routes.yaml:2:5 routes[0]: "network" and "http" are missing',
  ])
})

t.test('values of the wrong kind, at the value', async t => {
  const routes = route(
    'priority: high',
    'weight: 0',
    'headers: []',
    'timeout: 10',
    'enabled: "true"',
    'limits: { inFlight: 0, perSecond: -1 }',
    'capabilities: archive',
    'methods: { allow: [1], deny: {} }',
    'ws: true',
  )
  t.same(await problemsOf({ routes }), [
    'routes.yaml:5:15 routes[0].priority: "high" is not a whole number',
    'routes.yaml:6:13 routes[0].weight: must be above 0, not 0',
    'routes.yaml:7:14 routes[0].headers: a list is not a map of keys',
    'routes.yaml:8:14 routes[0].timeout: 10 is not a duration; write 250ms, 10s, 5m, 1h or 30d',
    'routes.yaml:9:14 routes[0].enabled: "true" is not true or false; remove the quotes',
    'routes.yaml:10:25 routes[0].limits.inFlight: must be at least 1, not 0',
    'routes.yaml:10:39 routes[0].limits.perSecond: must be above 0, not -1',
    'routes.yaml:11:19 routes[0].capabilities: "archive" is not a list',
    'routes.yaml:12:24 routes[0].methods.allow[0]: 1 is a number, not text; quote it',
    'routes.yaml:12:34 routes[0].methods.deny: a map is not a list',
    'routes.yaml:13:9 routes[0].ws: the value is a boolean, not text; quote it',
  ])
})

t.test('keys with nothing behind them, at the key', async t => {
  t.same(
    await problemsOf({
      routes: route('ws:', 'headers:', 'timeout: ~', 'limits: { inFlight }'),
      methods: rules('a_b:'),
    }),
    [
      'methods.yaml:7:5 families.evm.a_b: value is missing',
      'routes.yaml:5:5 routes[0].ws: value is missing',
      'routes.yaml:6:5 routes[0].headers: value is missing',
      'routes.yaml:7:14 routes[0].timeout: value is missing',
      'routes.yaml:8:15 routes[0].limits.inFlight: value is missing',
    ],
  )
})

t.test('every key of a rule', async t => {
  const methods = rules(
    'a1: { cost: -1, tier: PAID, needs: [trace, trace], params: [1] }',
    'a2: { params: [1, 2, 3], reads: stat, retry: always, hedge: 1, timeout: slow, answer: chainid }',
    'a3: { subscribe: "x*", commitment: 100, jsonParams: [1, 1], maxRange: 0, tracers: ["x()"] }',
    'a4: { cost: 1.5, block: { at: 0, kind: nmu, omitted: lates } }',
  )
  t.same(await problemsOf({ methods }), [
    'methods.yaml:7:17 families.evm.a1.cost: must be at least 0, not -1',
    'methods.yaml:7:27 families.evm.a1.tier: "PAID" is not a valid word; use up to 32 of a-z, 0-9, - and _',
    'methods.yaml:7:48 families.evm.a1.needs[1]: "trace" is a duplicate',
    'methods.yaml:7:64 families.evm.a1.params: this list has 1 item; it must have at least 2',
    'methods.yaml:8:19 families.evm.a2.params: this list has 3 items; it must have at most 2',
    'methods.yaml:8:37 families.evm.a2.reads: unknown kind of read "stat"; did you mean "state"?',
    'methods.yaml:8:50 families.evm.a2.retry: unknown retry class "always"; expected safe, dedupe or never',
    'methods.yaml:8:65 families.evm.a2.hedge: 1 is not true or false',
    'methods.yaml:8:77 families.evm.a2.timeout: unknown timeout class "slow"; expected fast, normal or heavy',
    'methods.yaml:8:91 families.evm.a2.answer: unknown answer "chainid"; did you mean "chainId"?',
    'methods.yaml:9:22 families.evm.a3.subscribe: "x*" is not a method name; use letters, digits and _',
    'methods.yaml:9:40 families.evm.a3.commitment: must be at most 99, not 100',
    'methods.yaml:9:61 families.evm.a3.jsonParams[1]: 1 is a duplicate',
    'methods.yaml:9:75 families.evm.a3.maxRange: must be at least 1, not 0',
    'methods.yaml:9:88 families.evm.a3.tracers[0]: "x()" is not a tracer name; use letters, digits and _',
    'methods.yaml:10:17 families.evm.a4.cost: 1.5 is not a whole number',
    'methods.yaml:10:44 families.evm.a4.block.kind: unknown kind of block reference "nmu"; did you mean "num"?',
    'methods.yaml:10:58 families.evm.a4.block.omitted: unknown block tag "lates"; did you mean "latest"?',
  ])
})

t.test('every key of a network', async t => {
  const networks = ethereum(
    'name: ""',
    'family: evn',
    'genesisHash: 0',
    'subdomain: A',
    'public: yes',
    'stateWindow: 1.5',
    'maxLag: 30 s',
    'hedge: no',
    'methods: { eth_call: { cost: one } }',
  ).replace('  solana', '  Solana')
  t.same(await problemsOf({ networks, routes: 'routes: []\n' }), [
    'networks.yaml:3:3 networks.Solana: "Solana" is not a slug; use up to 59 of a-z, 0-9 and -',
    'networks.yaml:6:11 networks.ethereum.name: the text is empty',
    'networks.yaml:7:13 networks.ethereum.family: unknown family "evn"; did you mean "evm"?',
    'networks.yaml:8:18 networks.ethereum.genesisHash: 0 is not a genesis hash; write base58, or 0x and 64 hex digits',
    'networks.yaml:9:16 networks.ethereum.subdomain: "A" is not a subdomain; use up to 63 of a-z, 0-9 and inner -',
    'networks.yaml:10:13 networks.ethereum.public: "yes" is not true or false',
    'networks.yaml:11:18 networks.ethereum.stateWindow: 1.5 is not a whole number',
    'networks.yaml:12:13 networks.ethereum.maxLag: "30 s" is not a lag; write a duration such as 30s, or a number of blocks',
    'networks.yaml:13:12 networks.ethereum.hedge: "no" is not true or false',
    'networks.yaml:14:34 networks.ethereum.methods.eth_call.cost: "one" is not a whole number',
  ])
})

t.test('every key of a plan', async t => {
  const plans = `plans:
  Free: { tiers: [] }
  paid:
    tiers: [any, paid, any]
    rate: { perSecond: 0, burst: 0 }
    quota: { requests: -1, every: 30 }
    maxBatch: 1001
    ws: { connections: x, subscriptions: -1 }
`
  t.same(await problemsOf({ plans }), [
    'plans.yaml:2:3 plans.Free: "Free" is not a plan name; use up to 32 of a-z, 0-9, - and _',
    'plans.yaml:2:18 plans.Free.tiers: the list is empty',
    'plans.yaml:4:24 plans.paid.tiers[2]: "any" is a duplicate',
    'plans.yaml:5:24 plans.paid.rate.perSecond: must be above 0, not 0',
    'plans.yaml:5:34 plans.paid.rate.burst: must be at least 1, not 0',
    'plans.yaml:6:24 plans.paid.quota.requests: must be at least 0, not -1',
    'plans.yaml:6:35 plans.paid.quota.every: 30 is not a quota window; write a duration such as 30d, or month',
    'plans.yaml:7:15 plans.paid.maxBatch: must be at most 1000, not 1001',
    'plans.yaml:8:24 plans.paid.ws.connections: "x" is not a whole number',
    'plans.yaml:8:42 plans.paid.ws.subscriptions: must be at least 0, not -1',
  ])
})

t.test('every key of the gateway', async t => {
  const gateway = `listen: 8080
admin: ":9464"
dataDir: ""
dashboardHost: http://localhost
trustedProxies: 10.0.0.0/8
limits: { body: 5 MiB, depth: 0, response: 0 }
timeouts: { request: 0s, keepAlive: fast }
log: { level: warning }
cors: { origins: [example.com] }
`
  t.same(await problemsOf({ gateway }), [
    'gateway.yaml:1:9 listen: 8080 is not a listen address; write host:port, such as 127.0.0.1:8080 or [::]:8080',
    'gateway.yaml:2:8 admin: ":9464" is not a listen address; write host:port, such as 127.0.0.1:8080 or [::]:8080',
    'gateway.yaml:3:10 dataDir: the text is empty',
    'gateway.yaml:4:16 dashboardHost: "http://…" is not a host name; write it without scheme, port and path',
    'gateway.yaml:5:17 trustedProxies: "10.0.0.0/8" is not a list',
    'gateway.yaml:6:17 limits.body: "5 MiB" is not a size; write 64KiB, 1MiB, 1GiB or a number of bytes',
    'gateway.yaml:6:31 limits.depth: must be at least 1, not 0',
    'gateway.yaml:6:44 limits.response: must be at least 1, not 0',
    'gateway.yaml:7:22 timeouts.request: "0s" is not a duration; write 250ms, 10s, 5m, 1h or 30d',
    'gateway.yaml:7:37 timeouts.keepAlive: "fast" is not a duration; write 250ms, 10s, 5m, 1h or 30d',
    'gateway.yaml:8:15 log.level: unknown log level "warning"; did you mean "warn"?',
    'gateway.yaml:9:19 cors.origins[0]: "example.com" is not an origin; write scheme and host, such as https://app.example.com, or *',
  ])
})
