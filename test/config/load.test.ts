import { resolve } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { directory, ethereum, load, problemsOf, route, rules, VALID } from './directory.ts'

t.test('findings of every kind in one directory, all at once and in order', async t => {
  const texts = {
    gateway: 'listen: 0.0.0.0:8080\n  admin: x\n',
    methods: rules('eth_getLogs: { cost: five }', 'eth_getLogs: {}'),
    networks: VALID.networks.replace('family: solana', 'family: solanna'),
    plans: VALID.plans.replace('tiers', 'tires'),
    routes: VALID.routes
      .replace('trace]', 'tracee]')
      .replace('network: ethereum', 'network: etherum')
      .replace("'http://127.0.0.1:8899'", '"${SOLANA_URL}"'),
  }
  t.same(await problemsOf(texts), [
    'gateway.yaml:1:9: a second ": " in one line, or a line indented too far; quote text that holds ": "',
    'methods.yaml:7:26 families.evm.eth_getLogs.cost: "five" is not a whole number',
    'methods.yaml:8:5 families.evm.eth_getLogs: duplicate key',
    'networks.yaml:4:43 networks.solana.family: unknown family "solanna"; did you mean "solana"?',
    'plans.yaml:2:11 plans.free.tires: unknown key; did you mean "tiers"?',
    'routes.yaml:3:14 routes[0].network: "etherum" is not a network in networks.yaml; did you mean "ethereum"?',
    'routes.yaml:5:29 routes[0].capabilities[1]: "tracee" is not a known capability; did you mean "trace"?',
    'routes.yaml:6:44 routes[1].http: the environment has no SOLANA_URL; set it, or write ${SOLANA_URL:-default}',
  ])
})

t.test('one problem a place, the first that was found', async t => {
  t.same(await problemsOf({ routes: route('capabilities: ["${NOPE}"]', 'timeout: ${NOPE}') }), [
    'routes.yaml:5:20 routes[0].capabilities[0]: the environment has no NOPE; set it, or write ${NOPE:-default}',
    'routes.yaml:6:14 routes[0].timeout: the environment has no NOPE; set it, or write ${NOPE:-default}',
  ])
})

t.test('a problem has its parts', async t => {
  const { config, problems } = await load({ routes: VALID.routes.replace('trace]', 'tracee]') })
  t.equal(config, null)
  t.same(problems, [
    {
      file: 'routes.yaml',
      line: 5,
      column: 29,
      path: 'routes[0].capabilities[1]',
      severity: 'error',
      message: '"tracee" is not a known capability',
      hint: 'did you mean "trace"?',
    },
  ])
})

t.test('defaults', async t => {
  const dir = directory({ gateway: '' })
  const { config } = await loadConfig(dir, {})
  t.same(config, {
    baseUrl: 'http://{subdomain}.localhost:8080',
    errors: [],
    networks: [
      {
        slug: 'ethereum',
        name: 'Ethereum Mainnet',
        family: 'evm',
        dialect: null,
        chainId: 1,
        genesisHash: null,
        head: null,
        identity: null,
        subdomain: 'ethereum-rpc',
        public: false,
        devnet: false,
        stateWindow: 128,
        maxLag: { unit: 'ms', value: 30_000 },
        hedge: false,
        broadcast: 1,
        share: true,
        finality: 'finalized',
        cache: { tip: 0 },
        methods: {},
      },
      {
        slug: 'solana',
        name: 'Solana Mainnet',
        family: 'solana',
        dialect: null,
        chainId: 'solana-mainnet',
        genesisHash: null,
        head: null,
        identity: null,
        subdomain: 'solana-rpc',
        public: false,
        devnet: false,
        stateWindow: 128,
        maxLag: { unit: 'ms', value: 30_000 },
        hedge: false,
        broadcast: 1,
        share: true,
        finality: 'finalized',
        cache: { tip: 0 },
        methods: {},
      },
    ],
    routes: [
      {
        id: 'ethereum-a',
        network: 'ethereum',
        http: 'http://127.0.0.1:8545',
        ws: null,
        capabilities: ['archive', 'trace'],
        history: null,
        priority: 1,
        weight: 1,
        headers: {},
        timeout: null,
        limits: { inFlight: null, perSecond: null },
        batch: 1,
        methods: { allow: null, deny: [] },
        errors: [],
        private: false,
        trace: false,
        enabled: true,
      },
      {
        id: 'solana-a',
        network: 'solana',
        http: 'http://127.0.0.1:8899',
        ws: null,
        capabilities: [],
        history: null,
        priority: 1,
        weight: 1,
        headers: {},
        timeout: null,
        limits: { inFlight: null, perSecond: null },
        batch: 1,
        methods: { allow: null, deny: [] },
        errors: [],
        private: false,
        trace: false,
        enabled: true,
      },
    ],
    notification: { cost: 1 },
    families: {
      evm: {
        eth_call: {},
        eth_getProof: { cost: 3 },
        trace_block: { cost: 20, tier: 'paid', needs: ['trace'] },
        eth_subscribe: { needs: ['ws'], subscribe: 'eth_unsubscribe' },
      },
      solana: { getSlot: {} },
      http: {},
      jsonrpc: {},
    },
    extended: [],
    logo: null,
    plans: [
      {
        name: 'free',
        tiers: ['any'],
        rate: { perSecond: 25, burst: 50 },
        quota: null,
        maxBatch: 100,
        alerts: null,
        managementKeys: 'all',
        ws: { connections: 5, subscriptions: 20 },
      },
      {
        name: 'paid',
        tiers: ['any', 'paid'],
        rate: { perSecond: 500, burst: 1000 },
        quota: null,
        maxBatch: 100,
        alerts: null,
        managementKeys: 'all',
        ws: { connections: 5, subscriptions: 20 },
      },
    ],
    gateway: {
      listen: { host: '127.0.0.1', port: 8080 },
      probes: null,
      adminHosts: [],
      watch: true,
      admin: { host: '127.0.0.1', port: 9464 },
      dataDir: resolve(dir, 'data'),
      workers: { count: 1, balance: 'accept' },
      node: { name: null },
      postgres: null,
      redis: null,
      cache: null,
      dashboardHost: 'localhost',
      dashboard: null,
      trustedProxies: [],
      tls: null,
      limits: {
        body: 5 * 1024 ** 2,
        batchReply: 64 * 1024 ** 2,
        wsReply: 16 * 1024 ** 2,
        connections: 10_000,
        connectionsPerAddress: 1000,
        inFlight: 10_000,
        memory: 512 * 1024 * 1024,
        socketCalls: 16,
        depth: 64,
        response: null,
      },
      timeouts: {
        headers: 10_000,
        request: 30_000,
        keepAlive: 75_000,
        connect: 2_000,
        drain: 65_000,
        drainIdle: 5_000,
      },
      management: { keys: 'all', origins: [] },
      acknowledge: [],
      audit: { keep: 400 * 86_400_000 },
      log: { level: 'info', access: null },
      tracing: null,
      cors: { origins: ['*'] },
      alerts: {
        webhook: null,
        quota: [0.75, 0.9, 1],
        events: ['quota.threshold', 'account.suspended', 'key.rotated', 'network.down', 'network.up'],
        allowPrivate: false,
      },
    },
  })
})

t.test('everything that can be written', async t => {
  const dir = directory({
    networks: ethereum(
      'genesisHash: 5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
      'subdomain: eth',
      'public: true',
      'stateWindow: 64',
      'maxLag: 5',
      'hedge: true',
      'broadcast: 2',
      'share: false',
      'methods: { eth_call: { enabled: false } }',
    ).replace('http://{subdomain}.localhost:8080', 'https://{subdomain}.Example.com:8443/'),
    routes: route(
      'ws: wss://127.0.0.1:2/key',
      'capabilities: [archive]',
      'history: { last: 90000 }',
      'priority: 0',
      'weight: 0.5',
      'headers: { Authorization: Bearer x }',
      'timeout: 1500ms',
      'limits: { inFlight: 3, perSecond: 0.5 }',
      'batch: 20',
      'methods: { allow: ["eth_*"], deny: [eth_call] }',
      'private: true',
      'trace: true',
      'enabled: false',
    ),
    methods:
      rules(
        'all_keys: { cost: 0, tier: paid, needs: [trace], params: [1, 2], block: { at: 0, kind: ref, path: a, omitted: latest }, reads: state, retry: dedupe, sends: false, broadcast: 3, hedge: true, share: false, timeout: heavy, answer: true, sticky: use, nullIsLag: true, commitment: 1, jsonParams: [1], maxRange: 10, tracers: [callTracer], enabled: false, networks: [ethereum] }',
        'no: { answer: false, reads: none }',
      ) + '  http: { "GET /eth/v1/node/*": {} }\nnotification: { cost: 0 }\n',
    plans:
      'plans: { public: { tiers: [any, paid], quota: { requests: 5, every: month }, maxBatch: 7, ws: { connections: 0, subscriptions: 1 } }, b: { tiers: [any], quota: { requests: 0, every: 30d } } }\n',
    gateway: `listen: '[::]:0'
admin: localhost:1
probes: 0.0.0.0:9465
management: { keys: first, origins: [https://Ops.example] }
dataDir: /var/lib/x
workers: { count: 3, balance: roundRobin }
dashboardHost: Dash.Example.com
dashboard: { name: Acme RPC, accent: '#0Af', links: { support: 'mailto:help@acme.example', docs: 'https://docs.acme.example/#rpc' } }
trustedProxies: [10.0.0.0/8, 'fd00::/8']
tls: { cert: cert.pem, key: /key.pem }
limits: { body: 64KiB, batchReply: 1GiB, wsReply: 2048, connections: 1, connectionsPerAddress: 4, inFlight: 5, memory: 6MiB, socketCalls: 2, depth: 3, response: 9B }
timeouts: { request: 5s, keepAlive: 1h, connect: 1ms, drain: 5m, drainIdle: 1ms }
audit: { keep: 30d }
log: { level: debug, access: { to: access.log, address: prefix, filter: { status: [404, 5xx], slower: 2s, sample: 5% } } }
tracing: { endpoint: 'http://127.0.0.1:4318', headers: { A: b }, sample: 0.5%, keep: { errors: true, slow: 2s }, parent: trusted }
cors: { origins: [https://a.example] }
alerts: { webhook: 'https://h.example/x', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', quota: [100%, 50%], events: [network.down], allowPrivate: true }
`,
  })
  const { config, problems } = await loadConfig(dir, {})
  t.same(problems, [])
  t.match(config, {
    baseUrl: 'https://{subdomain}.Example.com:8443',
    notification: { cost: 0 },
    gateway: {
      listen: { host: '::', port: 0 },
      admin: { host: 'localhost', port: 1 },
      probes: { host: '0.0.0.0', port: 9465 },
      dataDir: '/var/lib/x',
      workers: { count: 3, balance: 'roundRobin' },
      dashboardHost: 'dash.example.com',
      dashboard: {
        name: 'Acme RPC',
        logo: null,
        accent: '#00aaff',
        links: { support: 'mailto:help@acme.example', docs: 'https://docs.acme.example/#rpc' },
      },
      management: { keys: 'first', origins: ['https://ops.example'] },
      trustedProxies: ['10.0.0.0/8', 'fd00::/8'],
      tls: { cert: resolve(dir, 'cert.pem'), key: '/key.pem' },
      limits: {
        body: 65536,
        batchReply: 1024 ** 3,
        wsReply: 2048,
        connections: 1,
        connectionsPerAddress: 4,
        inFlight: 5,
        memory: 6 * 1024 * 1024,
        socketCalls: 2,
        depth: 3,
        response: 9,
      },
      // Cut to fit the shorter request.
      timeouts: {
        headers: 5_000,
        request: 5_000,
        keepAlive: 3_600_000,
        connect: 1,
        drain: 300_000,
        drainIdle: 1,
      },
      audit: { keep: 30 * 86_400_000 },
      log: {
        level: 'debug',
        access: {
          to: resolve(dir, 'access.log'),
          address: 'prefix',
          filter: { status: ['404', '5xx'], slower: 2000, sample: 0.05 },
        },
      },
      tracing: {
        endpoint: 'http://127.0.0.1:4318/v1/traces',
        headers: { A: 'b' },
        sample: 0.005,
        keep: { errors: true, slow: 2_000 },
        parent: 'trusted',
      },
      cors: { origins: ['https://a.example'] },
      alerts: {
        webhook: { url: 'https://h.example/x', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
        quota: [0.5, 1],
        events: ['network.down'],
        allowPrivate: true,
      },
    },
  })
  t.match(config?.networks[1], {
    genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
    subdomain: 'eth',
    public: true,
    stateWindow: 64,
    maxLag: { unit: 'blocks', value: 5 },
    hedge: true,
    broadcast: 2,
    share: false,
    methods: { eth_call: { enabled: false } },
  })
  t.same(config?.routes, [
    {
      id: 'a',
      network: 'ethereum',
      http: 'http://127.0.0.1:1',
      ws: 'wss://127.0.0.1:2/key',
      capabilities: ['archive'],
      history: { from: null, last: 90_000 },
      priority: 0,
      weight: 0.5,
      headers: { Authorization: 'Bearer x' },
      timeout: 1500,
      limits: { inFlight: 3, perSecond: 0.5 },
      batch: 20,
      methods: { allow: ['eth_*'], deny: ['eth_call'] },
      errors: [],
      private: true,
      trace: true,
      enabled: false,
    },
  ])
  t.same(config?.families.evm['all_keys'], {
    cost: 0,
    tier: 'paid',
    needs: ['trace'],
    params: [1, 2],
    block: { at: 0, kind: 'ref', path: 'a', omitted: 'latest' },
    reads: 'state',
    retry: 'dedupe',
    sends: false,
    broadcast: 3,
    hedge: true,
    share: false,
    timeout: 'heavy',
    answer: 'true',
    sticky: 'use',
    nullIsLag: true,
    commitment: 1,
    jsonParams: [1],
    maxRange: 10,
    tracers: ['callTracer'],
    enabled: false,
    networks: ['ethereum'],
  })
  t.same(config?.families.evm['no'], { answer: 'false', reads: 'none' })
  t.same(config?.families.http, { 'GET /eth/v1/node/*': {} })
  t.match(config?.plans, [
    {
      name: 'public',
      rate: null,
      quota: { requests: 5, every: 'month' },
      maxBatch: 7,
      alerts: null,
      managementKeys: 'first',
      ws: { connections: 0, subscriptions: 1 },
    },
    { name: 'b', quota: { requests: 0, every: 2_592_000_000 } },
  ])
})

t.test('the dashboard host follows from the base URL', async t => {
  const host = async (baseUrl: string) => {
    const networks = VALID.networks.replace('http://{subdomain}.localhost:8080', baseUrl)
    return (await load({ networks })).config?.gateway.dashboardHost
  }
  t.equal(await host('https://{subdomain}.Example.com:8443'), 'example.com')
  t.equal(await host('http://127.0.0.1:8080/{slug}'), '127.0.0.1')
  t.equal(await host('http://[::1]:8080/{slug}'), '[::1]')
  t.equal(await host('http://rpc-{subdomain}.example.com'), null)
})

t.test('places of keys, and of their nearest parents', async t => {
  const routes = `x-node: &node { network: ethereum, http: http://x }\nroutes:\n  - <<: *node\n    id: a\n    limits:\n      inFlight: 1\n`
  const loaded = await load({ routes })
  const at = (file: string, ...path: (string | number)[]) =>
    Object.values(loaded.locate(file, path)).join(':')
  t.equal(at('routes.yaml', 'routes', 0, 'limits', 'inFlight'), '6:7')
  t.equal(at('routes.yaml', 'routes', 0, 'limits', 'perSecond'), '5:5')
  t.equal(at('routes.yaml', 'routes', 0, 'http'), '1:36')
  t.equal(at('routes.yaml', 'routes', 0), '3:5')
  t.equal(at('routes.yaml', 'routes', 5, 'id'), '2:1')
  t.equal(at('routes.yaml'), '1:1')
  t.equal(at('networks.yaml', 'networks', 'solana'), '4:3')
  t.equal(at('gateway.yaml', 'listen'), '1:1')
})

t.test('texts are the files as they are', async t => {
  const { texts } = await load({ plans: '# broken\n\tx' })
  t.same(Object.keys(texts), ['networks.yaml', 'routes.yaml', 'methods.yaml', 'plans.yaml'])
  t.equal(texts['plans.yaml'], '# broken\n\tx')
})

t.test('what is loaded is frozen all the way down', async t => {
  const { config, problems } = await load({})
  const frozen = (value: unknown): boolean =>
    typeof value !== 'object' ||
    value === null ||
    (Object.isFrozen(value) && Object.values(value).every(frozen))
  t.ok(frozen(config))
  t.ok(frozen(problems))
  t.equal(Object.isFrozen(config?.families.evm['eth_getProof']), true)
})

t.test('method names that every object inherits are not there', async t => {
  const { config } = await load({})
  t.equal(config?.families.evm['constructor'], undefined)
  t.notOk('toString' in config!.networks[0]!.methods)
})

t.test('two loads of one directory are equal and share nothing', async t => {
  const dir = directory({})
  const [a, b] = [await loadConfig(dir, {}), await loadConfig(dir, {})]
  t.same(a.config, b.config)
  t.not(a.config?.networks, b.config?.networks)
})
