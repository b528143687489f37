import type { Network } from '../snapshot/types.ts'

/** How a network is reached. */
export type Addressed = Pick<Network, 'httpsUrl' | 'wssUrl' | 'wss'>

/** Where an endpoint with this key is reached; empty when its network is no longer served, or has no WebSocket route. */
export function endpointUrls(
  network: Addressed | undefined,
  key: string,
): { httpsUrl: string; wssUrl: string } {
  if (network === undefined) return { httpsUrl: '', wssUrl: '' }
  const path = `/v1/rpc/${key}`
  return { httpsUrl: network.httpsUrl + path, wssUrl: network.wss ? network.wssUrl + path : '' }
}

/** The network of that slug, as long as the configuration has it. */
export function findNetwork<N>(networks: Readonly<Record<string, N>>, slug: string): N | undefined {
  return Object.hasOwn(networks, slug) ? networks[slug] : undefined
}
