import t from 'tap'
import { callService } from '../../src/management/call.ts'
import { account, deps, endpoint, snapshot } from './support/deps.ts'

t.test('service_supportedNetworks', async t => {
  const outcome = await callService('service_supportedNetworks', [], null, deps())
  const expected = {
    networks: [
      {
        slug: 'ethereum',
        name: 'Ethereum Mainnet',
        chainId: 1,
        subdomain: 'ethereum-rpc',
        httpsEndpoint: 'https://ethereum-rpc.example.org/v1/rpc/<API_KEY>',
        wssEndpoint: 'wss://ethereum-rpc.example.org/v1/rpc/<API_KEY>',
        wss: true,
      },
      {
        slug: 'solana',
        name: 'Solana Mainnet',
        chainId: 'solana-mainnet',
        subdomain: 'solana-rpc',
        httpsEndpoint: 'http://127.0.0.1:8080/solana/v1/rpc/<API_KEY>',
        wssEndpoint: '',
        wss: false,
      },
    ],
  }
  t.strictSame(outcome, { result: expected })
  t.equal(JSON.stringify(outcome), JSON.stringify({ result: expected }), 'the order of the fields too')
})

t.test('service_networkStatus counts routes and names none', async t => {
  const routes = [
    { id: 'a', capabilities: ['archive', 'trace'], ws: 'ws://secret', http: 'http://secret' },
    { id: 'b', capabilities: ['archive', 'snap'], ws: null, http: 'http://secret' },
  ]
  const { ethereum, solana } = snapshot.networks
  const networks = { ethereum: { ...ethereum, routes }, solana }
  const ports = {
    ...deps({
      health: {
        head: slug => (slug === 'ethereum' ? 100 : null),
        isHealthy: (network, id) => network.slug === 'ethereum' && id === 'b',
      },
    }),
    snapshot: { ...snapshot, networks } as unknown as typeof snapshot,
  }
  const none = { routes: 0, healthy: 0 }
  t.strictSame(await callService('service_networkStatus', [], { account, endpoint }, ports), {
    result: {
      networks: [
        {
          slug: 'ethereum',
          family: 'evm',
          head: 100,
          routes: 2,
          healthy: 1,
          capabilities: {
            archive: { routes: 2, healthy: 1 },
            trace: { routes: 1, healthy: 0 },
            debug: none,
            txpool: none,
            ws: { routes: 1, healthy: 0 },
            snap: { routes: 1, healthy: 1 },
          },
        },
        {
          slug: 'solana',
          family: 'solana',
          head: null,
          ...none,
          capabilities: { archive: none, trace: none, debug: none, txpool: none, ws: none },
        },
      ],
    },
  })
  t.equal(await callService('service_networkStatus', [], null, ports), null, 'not without an account')
})

t.test('service_methods tells prices, what the plan has and what is served', async t => {
  const rule = { match: 'eth_call', cost: 1, tier: 'any', needs: [], params: [1, 3] }
  const usual = { subscribe: null, unsubscribes: null }
  const row = (more: object, unable: object | null = null) => ({
    rule: { ...rule, ...usual, ...more },
    unable,
  })
  const { ethereum } = snapshot.networks
  const network = {
    ...ethereum,
    methods: {
      trace_block: row({ cost: 5, tier: 'paid', needs: ['trace'] }, { reason: 'capability_missing' }),
      eth_call: row({}),
      eth_subscribe: row({ subscribe: 'eth_unsubscribe', params: null }),
      bor_getAuthor: row({}, { reason: 'method_not_found' }),
    },
    patterns: [row({ match: 'debug_*', cost: 10, tier: 'paid', needs: ['debug'] })],
  }
  const ports = {
    ...deps(),
    snapshot: {
      ...snapshot,
      networks: { ethereum: network },
      plans: { free: { tiers: ['any'] } },
    } as unknown as typeof snapshot,
  }
  const served = { available: true, wssOnly: false }
  const any = { cost: 1, tier: 'any', included: true, needs: [] }
  t.strictSame(await callService('service_methods', [{ chain: 'ethereum' }], { account, endpoint }, ports), {
    result: {
      chain: 'ethereum',
      methods: [
        { method: 'eth_call', ...any, params: [1, 3], ...served },
        { method: 'eth_subscribe', ...any, params: null, available: true, wssOnly: true },
        {
          method: 'trace_block',
          cost: 5,
          tier: 'paid',
          included: false,
          needs: ['trace'],
          params: [1, 3],
          available: false,
          wssOnly: false,
        },
        {
          method: 'debug_*',
          cost: 10,
          tier: 'paid',
          included: false,
          needs: ['debug'],
          params: [1, 3],
          ...served,
        },
      ],
    },
  })
  t.match(await callService('service_methods', [{ chain: 'nope' }], { account, endpoint }, ports), {
    error: { code: -32602, message: 'Invalid chain' },
  })
  t.equal(
    await callService('service_methods', [{ chain: 'ethereum' }], null, ports),
    null,
    'not without a key',
  )
})
