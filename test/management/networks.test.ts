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
          ...{ routes: 2, healthy: 1 },
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
