import type { Account } from '../../../src/ports/accounts.ts'
import type { Endpoint, EndpointWithKey } from '../../../src/ports/endpoints.ts'
import type { ServiceDeps } from '../../../src/management/types.ts'
import type { Network, Snapshot } from '../../../src/snapshot/types.ts'

/** Who calls, unless a test says otherwise. */
export const account: Account = {
  id: 'acc_1',
  name: 'Acme',
  plan: 'free',
  status: 'active',
  createdAt: 1_600_000_000,
}

/** The endpoint whose key makes the call. */
export const endpoint: Endpoint = {
  id: 'ep_1',
  accountId: 'acc_1',
  network: 'ethereum',
  name: 'prod',
  status: 'active',
  createdAt: 1_700_000_000,
  management: true,
  allowedOrigins: null,
  allowedIps: null,
  perSecond: null,
  dailyLimit: null,
  limitedSince: 0,
  expiresAt: null,
}

/** The same with its key. */
export const withKey: EndpointWithKey = { ...endpoint, apiKey: 'tg_key1', lastUsedAt: null, labels: {} }

const common = { methods: {}, patterns: [], routes: [] }

const ethereum = {
  ...common,
  slug: 'ethereum',
  name: 'Ethereum Mainnet',
  family: 'evm',
  chainId: 1,
  subdomain: 'ethereum-rpc',
  httpsUrl: 'https://ethereum-rpc.example.org',
  wssUrl: 'wss://ethereum-rpc.example.org',
  wss: true,
}

const solana = {
  ...common,
  slug: 'solana',
  name: 'Solana Mainnet',
  family: 'solana',
  chainId: 'solana-mainnet',
  subdomain: 'solana-rpc',
  httpsUrl: 'http://127.0.0.1:8080/solana',
  wssUrl: 'ws://127.0.0.1:8080/solana',
  wss: false,
}

/** Two networks and two plans: as much of a snapshot as management reads. */
export const snapshot = {
  networks: { ethereum, solana } as unknown as Record<string, Network>,
  plans: {
    free: { name: 'free', tiers: ['any'], rate: { perSecond: 25, burst: 50 } },
    unlimited: { name: 'unlimited', tiers: ['any'], rate: null },
  },
} as unknown as Snapshot

const unexpected = (what: string) => () => {
  throw new Error(`unexpected: ${what}`)
}

/** Ports that fail the test when they are used, but for those given. */
export function deps(
  given: {
    endpoints?: Partial<ServiceDeps['endpoints']>
    usage?: Partial<ServiceDeps['usage']>
    alerts?: Partial<ServiceDeps['alerts']>
    audit?: ServiceDeps['audit']
    health?: ServiceDeps['health']
    quota?: ServiceDeps['quota']
    isStale?: boolean
    now?: number
  } = {},
): ServiceDeps {
  return {
    snapshot,
    endpoints: {
      create: unexpected('create'),
      find: unexpected('find'),
      list: unexpected('list'),
      count: unexpected('count'),
      label: unexpected('label'),
      change: unexpected('change'),
      rotateKey: unexpected('rotateKey'),
      remove: unexpected('remove'),
      ...given.endpoints,
    },
    usage: {
      totals: unexpected('totals'),
      sum: unexpected('sum'),
      ...given.usage,
    },
    alerts: {
      webhook: unexpected('webhook'),
      setWebhook: unexpected('setWebhook'),
      ...given.alerts,
    },
    audit: given.audit ?? { read: unexpected('read') },
    health: given.health ?? { head: unexpected('head'), isHealthy: unexpected('isHealthy') },
    quota: given.quota ?? unexpected('quota'),
    isStale: () => given.isStale ?? false,
    now: () => given.now ?? 1_750_000_000,
  }
}

/** The -32602 that says this. */
export function invalid(why: string) {
  return {
    error: { code: -32602, message: `Invalid params: ${why}`, data: { reason: 'invalid_params', why } },
  }
}
