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
    'routes.yaml:6:13 routes[0].weight: 0 is too little; it has to be above 0',
    'routes.yaml:7:14 routes[0].headers: a list is not a map of keys',
    'routes.yaml:8:14 routes[0].timeout: 10 is no duration; write 250ms, 10s, 5m, 1h or 30d',
    'routes.yaml:9:14 routes[0].enabled: "true" is not true or false; remove the quotes',
    'routes.yaml:10:25 routes[0].limits.inFlight: 0 is too little; the least is 1',
    'routes.yaml:10:39 routes[0].limits.perSecond: -1 is too little; it has to be above 0',
    'routes.yaml:11:19 routes[0].capabilities: "archive" is not a list',
    'routes.yaml:12:24 routes[0].methods.allow[0]: 1 is a number, not text; quote it',
    'routes.yaml:12:34 routes[0].methods.deny: a map is not a list',
    'routes.yaml:13:9 routes[0].ws: the value is a truth value, not text; quote it',
  ])
})

t.test('keys with nothing behind them, at the key', async t => {
  t.same(
    await problemsOf({
      routes: route('ws:', 'headers:', 'timeout: ~', 'limits: { inFlight }'),
      methods: rules('a_b:'),
    }),
    [
      'methods.yaml:7:5 families.evm.a_b: nothing is written here',
      'routes.yaml:5:5 routes[0].ws: nothing is written here',
      'routes.yaml:6:5 routes[0].headers: nothing is written here',
      'routes.yaml:7:14 routes[0].timeout: nothing is written here',
      'routes.yaml:8:15 routes[0].limits.inFlight: nothing is written here',
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
    'methods.yaml:7:17 families.evm.a1.cost: -1 is too little; the least is 0',
    'methods.yaml:7:27 families.evm.a1.tier: "PAID" is no word; use up to 32 of a-z, 0-9, - and _',
    'methods.yaml:7:48 families.evm.a1.needs[1]: "trace" is written twice',
    'methods.yaml:7:64 families.evm.a1.params: 1 item in this list, where at least 2 belong',
    'methods.yaml:8:19 families.evm.a2.params: 3 items in this list, where at most 2 belong',
    'methods.yaml:8:37 families.evm.a2.reads: "stat" is no kind of read; did you mean "state"?',
    'methods.yaml:8:50 families.evm.a2.retry: "always" is no retry class; it is one of safe, dedupe or never',
    'methods.yaml:8:65 families.evm.a2.hedge: 1 is not true or false',
    'methods.yaml:8:77 families.evm.a2.timeout: "slow" is no timeout class; it is one of fast, normal or heavy',
    'methods.yaml:8:91 families.evm.a2.answer: "chainid" is no answer; did you mean "chainId"?',
    'methods.yaml:9:22 families.evm.a3.subscribe: "x*" is no method name; use letters, digits and _',
    'methods.yaml:9:40 families.evm.a3.commitment: 100 is too much; the most is 99',
    'methods.yaml:9:61 families.evm.a3.jsonParams[1]: 1 is written twice',
    'methods.yaml:9:75 families.evm.a3.maxRange: 0 is too little; the least is 1',
    'methods.yaml:9:88 families.evm.a3.tracers[0]: "x()" is no tracer; use letters, digits and _',
    'methods.yaml:10:17 families.evm.a4.cost: 1.5 is not a whole number',
    'methods.yaml:10:44 families.evm.a4.block.kind: "nmu" is no kind of block reference; did you mean "num"?',
    'methods.yaml:10:58 families.evm.a4.block.omitted: "lates" is no block tag; did you mean "latest"?',
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
    'networks.yaml:3:3 networks.Solana: "Solana" is no slug; use up to 59 of a-z, 0-9 and -',
    'networks.yaml:6:11 networks.ethereum.name: the text is empty',
    'networks.yaml:7:13 networks.ethereum.family: "evn" is no family; did you mean "evm"?',
    'networks.yaml:8:18 networks.ethereum.genesisHash: 0 is no genesis hash; write base58, or 0x and 64 hex digits',
    'networks.yaml:9:16 networks.ethereum.subdomain: "A" is no subdomain; use up to 63 of a-z, 0-9 and inner -',
    'networks.yaml:10:13 networks.ethereum.public: "yes" is not true or false',
    'networks.yaml:11:18 networks.ethereum.stateWindow: 1.5 is not a whole number',
    'networks.yaml:12:13 networks.ethereum.maxLag: "30 s" is no lag; write a duration such as 30s, or a number of blocks',
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
    'plans.yaml:2:3 plans.Free: "Free" is no plan name; use up to 32 of a-z, 0-9, - and _',
    'plans.yaml:2:18 plans.Free.tiers: the list is empty',
    'plans.yaml:4:24 plans.paid.tiers[2]: "any" is written twice',
    'plans.yaml:5:24 plans.paid.rate.perSecond: 0 is too little; it has to be above 0',
    'plans.yaml:5:34 plans.paid.rate.burst: 0 is too little; the least is 1',
    'plans.yaml:6:24 plans.paid.quota.requests: -1 is too little; the least is 0',
    'plans.yaml:6:35 plans.paid.quota.every: 30 is no window; write a duration such as 30d, or month',
    'plans.yaml:7:15 plans.paid.maxBatch: 1001 is too much; the most is 1000',
    'plans.yaml:8:24 plans.paid.ws.connections: "x" is not a whole number',
    'plans.yaml:8:42 plans.paid.ws.subscriptions: -1 is too little; the least is 0',
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
    'gateway.yaml:1:9 listen: 8080 is no address to listen on; write host:port, such as 127.0.0.1:8080 or [::]:8080',
    'gateway.yaml:2:8 admin: ":9464" is no address to listen on; write host:port, such as 127.0.0.1:8080 or [::]:8080',
    'gateway.yaml:3:10 dataDir: the text is empty',
    'gateway.yaml:4:16 dashboardHost: "http://…" is no host name; write it without scheme, port and path',
    'gateway.yaml:5:17 trustedProxies: "10.0.0.0/8" is not a list',
    'gateway.yaml:6:17 limits.body: "5 MiB" is no size; write 64KiB, 1MiB, 1GiB or a number of bytes',
    'gateway.yaml:6:31 limits.depth: 0 is too little; the least is 1',
    'gateway.yaml:6:44 limits.response: 0 is too little; the least is 1',
    'gateway.yaml:7:22 timeouts.request: "0s" is no duration; write 250ms, 10s, 5m, 1h or 30d',
    'gateway.yaml:7:37 timeouts.keepAlive: "fast" is no duration; write 250ms, 10s, 5m, 1h or 30d',
    'gateway.yaml:8:15 log.level: "warning" is no log level; did you mean "warn"?',
    'gateway.yaml:9:19 cors.origins[0]: "example.com" is no origin; write scheme and host, such as https://app.example.com, or *',
  ])
})
