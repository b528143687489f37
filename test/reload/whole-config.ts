import type { File } from './config-dir.ts'

const chainId = 1001

/** A valid configuration that writes every key of every schema, but for those that name other files or servers. */
export function wholeConfig(url: string, wsUrl: string): Readonly<Record<File, unknown>> {
  return {
    'networks.yaml': {
      baseUrl: 'http://{subdomain}.example.test',
      networks: {
        alpha: {
          ...{ name: 'Alpha', family: 'evm', chainId, subdomain: 'alpha-rpc', public: true, devnet: false },
          ...{
            dialect: 'alphanet',
            stateWindow: 128,
            maxLag: '30s',
            hedge: false,
            broadcast: 2,
            share: true,
          },
          ...{ finality: 'finalized', cache: { tip: '1s' } },
          methods: { eth_gasPrice: { cost: 2 } },
        },
        any: {
          ...{ name: 'Any', family: 'jsonrpc', chainId: 'any-test' },
          head: { method: 'status', params: { full: true }, at: 'result.height' },
          identity: { method: 'status', params: [1], at: 'result.chain', equals: 'any' },
        },
        sol: { name: 'Sol', family: 'solana', chainId: 'sol-test', genesisHash: '1'.repeat(32) },
      },
    },
    'routes.yaml': {
      errors: [{ code: -32000, text: 'node is warming up', class: 'unavailable' }],
      routes: [
        {
          ...{ id: 'alpha-a', network: 'alpha', http: url, ws: wsUrl },
          ...{ capabilities: ['debug', 'trace'], priority: 1, weight: 2, headers: { 'X-Of-Ours': 'yes' } },
          ...{ timeout: '10s', limits: { inFlight: 256, perSecond: 100_000 }, batch: 20, enabled: true },
          methods: { allow: ['web3_sha3', 'eth_*', 'debug_*'], deny: ['eth_getLogs'] },
          errors: [{ code: [-32000], methods: ['eth_call'], family: 'evm', class: 'missing' }],
        },
        {
          id: 'sol-a',
          network: 'sol',
          http: url,
          history: { from: 1 },
          private: true,
          trace: true,
          enabled: false,
        },
        { id: 'any-a', network: 'any', http: url, history: { last: 9 }, enabled: false },
      ],
    },
    'methods.yaml': {
      notification: { cost: 1 },
      families: {
        evm: {
          web3_sha3: {
            params: [1, 1],
            retry: 'safe',
            hedge: true,
            share: false,
            timeout: 'fast',
            enabled: true,
          },
          eth_gasPrice: { cost: 1, tier: 'any' },
          eth_chainId: { answer: 'chainId' },
          eth_getLogs: { block: { at: 0, kind: 'range' }, maxRange: 10_000, networks: ['alpha'] },
          eth_call: { block: { at: 1, kind: 'ref', omitted: 'latest' }, reads: 'state', nullIsLag: false },
          eth_getBlockByNumber: {
            ...{ block: { at: 0, kind: 'ref' }, retry: 'safe', cache: ['final', 'tip'], shows: 'number' },
            is: 'hash',
          },
          eth_sendRawTransaction: { retry: 'dedupe', sends: true, broadcast: 3 },
          eth_newFilter: { sticky: 'create', dialects: ['alphanet', 'betanet'] },
          eth_subscribe: { needs: ['ws'], subscribe: 'eth_unsubscribe' },
          debug_traceCall: {
            ...{ cost: 5, tier: 'paid', needs: ['debug'], block: { at: 1, kind: 'ref', path: 'block' } },
            ...{ tracers: ['callTracer'], jsonParams: [2] },
          },
        },
        solana: { getSlot: { commitment: 0 } },
        http: { 'GET /eth/v1/node/*': { cost: 2 } },
        jsonrpc: { status: { cost: 2 } },
      },
    },
    'plans.yaml': {
      plans: {
        public: { tiers: ['any'], rate: { perSecond: 10, burst: 30 }, maxBatch: 20 },
        paid: {
          ...{ tiers: ['any', 'paid'], rate: { perSecond: 100_000, burst: 100_000 }, maxBatch: 100 },
          ...{ quota: { requests: 1_000_000_000, every: '30d' } },
          ws: { connections: 5, subscriptions: 20 },
          management: { keys: 'none' },
          alerts: { quota: ['50%'] },
        },
      },
    },
    'gateway.yaml': {
      ...{ listen: '127.0.0.1:0', admin: '127.0.0.1:0', probes: '127.0.0.1:0', dataDir: './data' },
      ...{ workers: { count: 1, balance: 'accept' }, node: { name: 'rpc-1' } },
      ...{
        watch: false,
        adminHosts: ['tollgate'],
        dashboardHost: 'localhost',
        trustedProxies: ['10.0.0.0/8'],
      },
      dashboard: {
        ...{ name: 'Acme RPC', accent: '#0a7d5c' },
        links: {
          support: 'mailto:help@example.test',
          docs: 'https://docs.example.test',
          terms: 'https://example.test/terms',
        },
      },
      limits: {
        ...{ body: '5MiB', batchReply: '64MiB', wsReply: '16MiB', connections: 10_000 },
        ...{ connectionsPerAddress: 1000, inFlight: 10_000, memory: '256MiB' },
        ...{ socketCalls: 16, depth: 64, response: '1GiB' },
      },
      timeouts: {
        headers: '10s',
        request: '30s',
        keepAlive: '75s',
        connect: '2s',
        drain: '65s',
        drainIdle: '5s',
      },
      cache: { memory: '64MiB', entry: '256KiB', header: true },
      management: { keys: 'first', origins: ['https://app.example.test'] },
      acknowledge: ['no-route:debug'],
      audit: { keep: '400d' },
      log: {
        level: 'info',
        access: { to: 'stdout', address: 'prefix', filter: { status: ['4xx'], slower: '1s', sample: '1%' } },
      },
      tracing: {
        ...{ endpoint: 'http://127.0.0.1:1/v1/traces', headers: { 'X-Of-Ours': 'yes' } },
        ...{ sample: '0%', keep: { errors: true, slow: '30s' }, parent: 'trusted' },
      },
      cors: { origins: ['https://app.example.test'] },
      alerts: {
        webhook: 'https://hooks.example.test/x',
        secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
        quota: ['80%'],
        events: ['network.down'],
        allowPrivate: true,
      },
    },
  }
}
