import t from 'tap'
import { ethereum, problemsOf, route, rules, VALID } from './directory.ts'

t.test('slugs and subdomains', async t => {
  const more = `  v1: { name: X, family: evm, chainId: 5 }
  dashboard: { name: X, family: evm, chainId: 5 }
  x: { name: X, family: evm, chainId: 5, subdomain: ethereum-rpc }
  y: { name: X, family: evm, chainId: 5, subdomain: z-rpc }
  z: { name: X, family: evm, chainId: 5 }
`
  t.same(await problemsOf({ networks: VALID.networks + more }), [
    'networks.yaml:5:3 networks.v1: "v1" cannot be a slug: it is a path of the gateway\'s own',
    'networks.yaml:6:3 networks.dashboard: "dashboard" cannot be a slug: it is a path of the gateway\'s own',
    'networks.yaml:7:53 networks.x.subdomain: the subdomain "ethereum-rpc" belongs to ethereum already',
    'networks.yaml:9:3 networks.z: the subdomain "z-rpc" belongs to y already',
  ])
})

t.test('slugs that look like numbers or words of YAML', async t => {
  const networks = VALID.networks.replace('  ethereum', '  1e3').replace('  solana', '  null')
  const routes = VALID.routes
    .replace('network: ethereum', "network: '1e3'")
    .replace('network: solana', "network: 'null'")
  t.same(await problemsOf({ networks, routes }), [])
})

t.test('chain ids', async t => {
  const networks = ethereum('chainId: "1"').replace('chainId: s ', 'chainId: 101 ')
  t.same(await problemsOf({ networks }), [
    'networks.yaml:3:47 networks.solana.chainId: 101 is not an identifier; write a text, such as solana-mainnet',
    'networks.yaml:7:14 networks.ethereum.chainId: "1" is not an EVM chain id; write a whole number without quotes',
  ])
})

t.test('the base URL', async t => {
  const hint =
    'put {subdomain} in the host (http://{subdomain}.localhost:8080) or {slug} in the path (http://127.0.0.1:8080/{slug})'
  const lines = (baseUrl: string) =>
    problemsOf({ networks: VALID.networks.replace('http://{subdomain}.localhost:8080', baseUrl) })
  for (const url of [
    'https://{subdomain}.example.com/',
    'http://rpc-{subdomain}.x',
    'http://127.0.0.1:1/{slug}',
    'http://[::1]:1/a/{slug}/',
    'http://{subdomain}.localhost:{port}',
    'https://127.0.0.1:{port}/{slug}',
  ])
    t.same(await lines(url), [], url)
  for (const url of [
    'http://localhost',
    'http://{subdomain}.x/{slug}',
    'http://{slug}.x',
    'http://x/{subdomain}',
    'http://x/a{slug}',
    'http://x/{slug}/{slug}',
    'http://{subdomain}.{subdomain}.x',
    'http://{subdomain}.x/{foo}',
  ])
    t.same(
      await lines(url),
      [`networks.yaml:1:10 baseUrl: the base URL must tell the networks apart in exactly one place; ${hint}`],
      url,
    )
  for (const url of [
    'ftp://{subdomain}.x',
    'x/{slug}',
    'http://{subdomain}.x?a',
    'http://u:p@{subdomain}.x',
    'http://{subdomain}.x:99999',
  ])
    t.same(
      await lines(url),
      [
        `networks.yaml:1:10 baseUrl: the base URL is not an http:// or https:// URL without user, query and fragment; ${hint}`,
      ],
      url,
    )
})

t.test('routes: network, id, capabilities, timeout', async t => {
  const routes = `routes:
  - { id: a, network: etherum, http: http://x, capabilities: [ws, tracee, other] }
  - { id: a, network: ethereum, http: http://x, timeout: 25d }
`
  t.same(await problemsOf({ routes }), [
    'routes.yaml:2:23 routes[0].network: "etherum" is not a network in networks.yaml; did you mean "ethereum"?',
    'routes.yaml:2:63 routes[0].capabilities[0]: "ws" is not declared here; it follows from the ws URL',
    'routes.yaml:2:67 routes[0].capabilities[1]: "tracee" is not a known capability; did you mean "trace"?',
    'routes.yaml:2:75 routes[0].capabilities[2]: "other" is not a known capability; no rule needs it',
    'routes.yaml:3:11 routes[1].id: routes[0] has the id "a" already',
    'routes.yaml:3:58 routes[1].timeout: must be at most 24d, not 25d',
  ])
})

t.test(
  'bug: an escape divided between user and password passed, and the route broke when it opened',
  async t => {
    const lines = (url: string) => problemsOf({ routes: VALID.routes.replace('http://127.0.0.1:8545', url) })
    for (const user of ['me:pass', 'me', ':pass', 'caf%C3%A9:100%25', '%E2%82%AC:%5B'])
      t.same(await lines(`http://${user}@n`), [], user)
    for (const user of ['a%2:5b', 'a%:25', '%E2%82:%AC', '100%:pass', 'me:%2'])
      t.same(
        await lines(`http://${user}@n`),
        [
          'routes.yaml:4:11 routes[0].http: the user or password of the URL is not percent-encoded UTF-8; write a % that belongs to it as %25',
        ],
        user,
      )
  },
)

t.test('capabilities are the words that rules need, those of networks too', async t => {
  const networks = ethereum('methods: { eth_own: { needs: [erigon] } }')
  t.same(await problemsOf({ networks, routes: route('capabilities: [archive, trace, erigon]') }), [])
})

t.test('bug: headers of a route that the gateway writes itself were dropped without a word', async t => {
  for (const name of ['Content-Length', 'transfer-encoding', 'Connection', 'EXPECT', 'Sec-WebSocket-Key'])
    t.same(await problemsOf({ routes: route(`headers: { Host: h, ${name}: cnryToken }`) }), [
      `routes.yaml:5:25 routes[0].headers.${name}: the gateway writes this header itself; remove it`,
    ])
  t.same(await problemsOf({ routes: route('headers: { Accept: "*/*", Content-Type: text/plain }') }), [])
  t.end()
})

t.test('routes: allowed and denied methods', async t => {
  const lists = (line: string, networks: string = VALID.networks) =>
    problemsOf({ networks, routes: route(line) })
  t.same(await lines(), [
    'routes.yaml:5:23 routes[0].methods.deny[0]: "eth_getProff" is not a method of ethereum; did you mean "eth_getProof"?',
    'routes.yaml:5:37 routes[0].methods.deny[1]: "debug_*" is not a method of ethereum',
    'routes.yaml:5:55 routes[0].methods.allow[0]: "getSlot" is not a method of ethereum',
  ])
  t.same(await lists('methods: { deny: [eth_getProof, "eth_get*", "trace_*", eth_unsubscribe] }'), [])
  t.same(await lists('methods: { deny: [eth_own] }', ethereum('methods: { eth_own: {} }')), [])
  t.same(
    await problemsOf({
      methods: rules('"erigon_*": {}'),
      routes: route('methods: { allow: [erigon_forks, "erigon_get*", "eri*"] }'),
    }),
    [],
  )
  function lines() {
    return lists('methods: { deny: [eth_getProff, debug_*], allow: [getSlot] }')
  }
})

t.test('names of rules', async t => {
  const methods =
    rules(
      'engine_newPayloadV3: { enabled: false }',
      'admin_*: {}',
      'eth_*: {}',
      'eth_sendTransaction: {}',
      'bad-name: {}',
      'service_x: {}',
    ) +
    `  http:
    "GET /eth/v1/node/*": {}
    "get /x": {}
    eth_call: {}
    "POST /a*b": {}
`
  t.same(await problemsOf({ methods }), [
    'methods.yaml:7:5 families.evm.engine_newPayloadV3: engine_newPayloadV3 is never forwarded, on any plan; remove the rule',
    'methods.yaml:8:5 families.evm.admin_*: admin_* is never forwarded, on any plan; remove the rule',
    'methods.yaml:10:5 families.evm.eth_sendTransaction: eth_sendTransaction is never forwarded, on any plan; remove the rule',
    'methods.yaml:11:5 families.evm.bad-name: "bad-name" is not a method name of family evm; use letters, digits and _, and a * at the end for a prefix',
    "methods.yaml:12:5 families.evm.service_x: service_x is answered by the gateway's own management; remove the rule",
    'methods.yaml:17:5 families.http["get /x"]: "get /x" is not a method name of family http; write METHOD /path, and a * at the end for a prefix',
    'methods.yaml:18:5 families.http.eth_call: "eth_call" is not a method name of family http; write METHOD /path, and a * at the end for a prefix',
    'methods.yaml:19:5 families.http["POST /a*b"]: "POST /a*b" is not a method name of family http; write METHOD /path, and a * at the end for a prefix',
  ])
})

t.test('parameter counts and networks of rules', async t => {
  const methods = rules(
    'p_q: { params: [3, 1] }',
    'n_m: { networks: [etherem, solana, ethereum] }',
    'o_o: { networks: [] }',
  )
  t.same(await problemsOf({ methods }), [
    'methods.yaml:7:20 families.evm.p_q.params: at least 3 and at most 1 cannot both hold; write [1, 3]',
    'methods.yaml:8:23 families.evm.n_m.networks[0]: warning: "etherem" is not a network in networks.yaml; did you mean "ethereum"? [unknown-network]',
    'methods.yaml:8:32 families.evm.n_m.networks[1]: solana is of family solana, not evm',
  ])
})

t.test('a method that a subscription defines has no row of its own', async t => {
  t.same(await problemsOf({ methods: rules('s_s: { subscribe: eth_call }') }), [
    'methods.yaml:7:23 families.evm.s_s.subscribe: eth_call has a row of its own; remove that row: this one defines it',
  ])
  const networks = ethereum(
    'methods:',
    '  eth_unsubscribe: {}',
    '  s_s: { subscribe: eth_call }',
    '  t_t: { subscribe: u_u }',
    '  u_u: {}',
  )
  t.same(await problemsOf({ networks }), [
    'networks.yaml:9:7 networks.ethereum.methods.eth_unsubscribe: eth_unsubscribe is defined by the row eth_subscribe; remove this row',
    'networks.yaml:10:25 networks.ethereum.methods.s_s.subscribe: eth_call has a row of its own; remove that row: this one defines it',
    'networks.yaml:11:25 networks.ethereum.methods.t_t.subscribe: u_u has a row of its own; remove that row: this one defines it',
  ])
})

t.test('tiers', async t => {
  const plans = (from: string, to: string) => problemsOf({ plans: VALID.plans.replace(from, to) })
  t.same(await plans('any, paid', 'any, payd'), [
    'plans.yaml:3:24 plans.paid.tiers[1]: no rule has the tier "payd"; did you mean "paid"?',
  ])
  t.same(await plans('any, paid', 'any, paid, gold'), [
    'plans.yaml:3:30 plans.paid.tiers[2]: no rule has the tier "gold"',
  ])
  t.same(await plans(', paid]', ']'), [
    'methods.yaml:5:36 families.evm.trace_block.tier: warning: no plan offers the tier "paid" [paid-plan]',
  ])
  t.same(await problemsOf({ methods: rules('x_y: { tier: payd }', 'x_z: { tier: payd }') }), [
    'methods.yaml:7:18 families.evm.x_y.tier: no plan offers the tier "payd" (2 rules have it); did you mean "paid"?',
  ])
})

t.test('costs that no bucket can pay', async t => {
  const methods = rules(
    'a_a: { cost: 51 }',
    'b_b: { cost: 51, tier: paid }',
    'c_c: { cost: 1001, tier: paid }',
    'd_d: { cost: 1001, enabled: false }',
    'e_e: { cost: 50 }',
  )
  t.same(await problemsOf({ methods: `${methods}notification: { cost: 51 }\n` }), [
    'methods.yaml:7:18 families.evm.a_a.cost: the cost 51 is above the burst of plan free (50); it could never pass',
    'methods.yaml:9:18 families.evm.c_c.cost: the cost 1001 is above the burst of plan paid (1000); it could never pass',
    'methods.yaml:14:23 notification.cost: the cost 51 is above the burst of plan free (50); it could never pass',
  ])
  t.same(
    await problemsOf({ methods, plans: 'plans: { free: { tiers: [any] }, paid: { tiers: [any, paid] } }\n' }),
    [],
  )
})

t.test('costs of a network’s own rules, with what they inherit', async t => {
  const networks = ethereum(
    'methods:',
    '  eth_call: { cost: 60 }',
    '  trace_block: { cost: 60 }',
    '  eth_getProof: { hedge: true }',
  )
  t.same(await problemsOf({ networks }), [
    'networks.yaml:9:25 networks.ethereum.methods.eth_call.cost: the cost 60 is above the burst of plan free (50); it could never pass',
  ])
  const cheap = ethereum('methods: { trace_block: { tier: any } }')
  t.same(await problemsOf({ networks: cheap, methods: VALID.methods.replace('cost: 20', 'cost: 60') }), [
    'networks.yaml:8:37 networks.ethereum.methods.trace_block.tier: the cost 60 is above the burst of plan free (50); it could never pass',
  ])
})

t.test('rules of a network are checked like those of a family', async t => {
  const networks = ethereum(
    'methods:',
    '  db_x: {}',
    '  GET /x: {}',
    '  eth_call: { params: [2, 1], networks: [nope], tier: gold }',
  )
  t.same(await problemsOf({ networks }), [
    'networks.yaml:9:7 networks.ethereum.methods.db_x: db_x is never forwarded, on any plan; remove the rule',
    'networks.yaml:10:7 networks.ethereum.methods["GET /x"]: "GET /x" is not a method name of family evm; use letters, digits and _, and a * at the end for a prefix',
    'networks.yaml:11:27 networks.ethereum.methods.eth_call.params: at least 2 and at most 1 cannot both hold; write [1, 2]',
    'networks.yaml:11:46 networks.ethereum.methods.eth_call.networks[0]: warning: "nope" is not a network in networks.yaml [unknown-network]',
    'networks.yaml:11:59 networks.ethereum.methods.eth_call.tier: no plan offers the tier "gold"',
  ])
})

t.test('a public network needs the plan public', async t => {
  const networks = ethereum('public: true')
  t.same(await problemsOf({ networks }), [
    'plans.yaml:1:1 plans: the plan "public" is missing, which the public route of ethereum needs; add it, or write "public: false" there',
  ])
  t.same(await problemsOf({ networks, plans: `${VALID.plans}  public: { tiers: [any] }\n` }), [])
})

t.test('addresses, ranges and timeouts of the gateway', async t => {
  const gateway = `listen: 127.0.0.1:65536
admin: "[::ffff:1.2.3.4.5]:1"
trustedProxies: [10.0.0.1, foo, 10/8, 010.0.0.0/8, 10.0.0.0/33, 10.0.0.0/8, "::/0", fd00::1]
timeouts: { headers: 40s, keepAlive: 30d }
`
  t.same(await problemsOf({ gateway }), [
    'gateway.yaml:1:9 listen: "127.0.0.1:65536" is not a listen address; the port is at most 65535, and only IPv6 has brackets',
    'gateway.yaml:2:8 admin: "[::ffff:1.2.3.4.5]:1" is not a listen address; the port is at most 65535, and only IPv6 has brackets',
    'gateway.yaml:3:18 trustedProxies[0]: "10.0.0.1" is not an address range; write 10.0.0.1/32',
    'gateway.yaml:3:28 trustedProxies[1]: "foo" is not an address range; write it like 10.0.0.0/8 or fd00::/8',
    'gateway.yaml:3:33 trustedProxies[2]: "10/8" is not an address range; write it like 10.0.0.0/8 or fd00::/8',
    'gateway.yaml:3:39 trustedProxies[3]: "010.0.0.0/8" is not an address range; write it like 10.0.0.0/8 or fd00::/8',
    'gateway.yaml:3:52 trustedProxies[4]: "10.0.0.0/33" is not an address range; write it like 10.0.0.0/8 or fd00::/8',
    'gateway.yaml:3:85 trustedProxies[7]: "fd00::1" is not an address range; write fd00::1/128',
    'gateway.yaml:4:22 timeouts.headers: headers may not take longer (40s) than the whole request (30s)',
    'gateway.yaml:4:38 timeouts.keepAlive: must be at most 24d, not 30d',
  ])
})

t.test('one finding is not told again by what it takes from other files', async t => {
  const methods = (from: string, to: string) => problemsOf({ methods: VALID.methods.replace(from, to) })
  t.same(await methods('needs: [trace]', 'need: [trace]'), [
    'methods.yaml:5:42 families.evm.trace_block.need: unknown key; did you mean "needs"?',
  ])
  t.same(await methods('needs: [trace]', 'needs: trace'), [
    'methods.yaml:5:49 families.evm.trace_block.needs: "trace" is not a list',
  ])
  t.same(await methods('{ cost: 20, tier: paid, needs: [trace] }', 'paid'), [
    'methods.yaml:5:18 families.evm.trace_block: "paid" is not a map of keys',
  ])
  t.same(await methods('tier: paid', 'tear: paid'), [
    'methods.yaml:5:30 families.evm.trace_block.tear: unknown key; did you mean "tier"?',
  ])
  const plans = (from: string, to: string) => problemsOf({ plans: VALID.plans.replace(from, to) })
  t.same(await plans('paid: { tiers', 'paid: { tires'), [
    'plans.yaml:3:11 plans.paid.tires: unknown key; did you mean "tiers"?',
  ])
  t.same(await plans('[any, paid]', 'paid'), ['plans.yaml:3:18 plans.paid.tiers: "paid" is not a list'])
  const routes = route('methods: { deny: [eth_call] }')
  t.same(await problemsOf({ routes, methods: VALID.methods.replace('  evm:', '  emv:') }), [
    'methods.yaml:2:3 families.emv: unknown key; did you mean "evm"?',
  ])
  t.same(
    await problemsOf({ routes, methods: VALID.methods.replace('eth_call: {}', 'eth_call: { cost: x }') }),
    ['methods.yaml:3:23 families.evm.eth_call.cost: "x" is not a whole number'],
  )
})
