import t from 'tap'
import { callService } from '../../src/service/call.ts'
import { deps } from './support/deps.ts'

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
        wssEndpoint: 'ws://127.0.0.1:8080/solana/v1/rpc/<API_KEY>',
        wss: false,
      },
    ],
  }
  t.strictSame(outcome, { result: expected })
  t.equal(JSON.stringify(outcome), JSON.stringify({ result: expected }), 'the order of the fields too')
})
