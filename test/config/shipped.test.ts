import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'

const dir = new URL('../..', import.meta.url).pathname
const { config, problems } = await loadConfig(dir, {})

t.test('it has no problems without an environment', t => {
  t.same(problems, [])
  t.end()
})

t.test('the networks of the specification', t => {
  const listed = config?.networks.map(({ slug, chainId, subdomain }) => ({ slug, chainId, subdomain }))
  t.same(listed, [
    { slug: 'ethereum', chainId: 1, subdomain: 'ethereum-rpc' },
    { slug: 'bsc', chainId: 56, subdomain: 'bsc-rpc' },
    { slug: 'arbitrum-one', chainId: 42161, subdomain: 'arbitrum-one-rpc' },
    { slug: 'base', chainId: 8453, subdomain: 'base-rpc' },
    { slug: 'polygon-bor', chainId: 137, subdomain: 'polygon-bor-rpc' },
    { slug: 'solana', chainId: 'solana-mainnet', subdomain: 'solana-rpc' },
  ])
  t.end()
})

t.test('every network has a route with a WebSocket, and is public', t => {
  for (const network of config?.networks ?? []) {
    const routes = config?.routes.filter(route => route.network === network.slug) ?? []
    t.ok(routes.length >= 2, network.slug)
    t.ok(
      routes.some(route => route.ws !== null),
      network.slug,
    )
    t.ok(network.public, network.slug)
  }
  t.equal(
    config?.networks.find(({ slug }) => slug === 'solana')?.genesisHash,
    '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d',
  )
  t.end()
})

t.test('its plans', t => {
  t.same(config?.plans, [
    {
      name: 'public',
      tiers: ['any'],
      rate: { perSecond: 10, burst: 30 },
      quota: null,
      maxBatch: 20,
      alerts: null,
      managementKeys: 'all',
      ws: { connections: 2, subscriptions: 5 },
    },
    {
      name: 'free',
      tiers: ['any'],
      rate: { perSecond: 25, burst: 50 },
      quota: { requests: 3_000_000, every: 2_592_000_000 },
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
      maxBatch: 1000,
      alerts: null,
      managementKeys: 'all',
      ws: { connections: 100, subscriptions: 1000 },
    },
  ])
  t.end()
})

t.test('upstreams follow the environment', async t => {
  const { config } = await loadConfig(dir, {
    ETHEREUM_A_URL: 'http://10.0.0.1',
    ETHEREUM_B_WS: 'ws://10.0.0.2',
  })
  t.match(
    config?.routes.find(({ id }) => id === 'ethereum-a'),
    { http: 'http://10.0.0.1', ws: /^wss:/ },
  )
  t.match(
    config?.routes.find(({ id }) => id === 'ethereum-b'),
    { http: /^https:/, ws: 'ws://10.0.0.2' },
  )
})
