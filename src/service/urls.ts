import type { Network } from '../snapshot/types.ts'

/** Where an endpoint with this key is reached; empty when its network is no longer served, or has no WebSocket route. */
export function endpointUrls(
  network: Network | undefined,
  key: string,
): { httpsUrl: string; wssUrl: string } {
  if (network === undefined) return { httpsUrl: '', wssUrl: '' }
  const path = `/v1/rpc/${key}`
  return { httpsUrl: network.httpsUrl + path, wssUrl: network.wss ? network.wssUrl + path : '' }
}

/** The network of that slug, as long as the configuration has it. */
export function findNetwork(networks: Readonly<Record<string, Network>>, slug: string): Network | undefined {
  return Object.hasOwn(networks, slug) ? networks[slug] : undefined
}
