import type { Network } from '../snapshot/types.ts'

/** Where an endpoint with this key is reached; empty when its network is no longer served. */
export function endpointUrls(
  network: Network | undefined,
  key: string,
): { httpsUrl: string; wssUrl: string } {
  if (network === undefined) return { httpsUrl: '', wssUrl: '' }
  return { httpsUrl: `${network.httpsUrl}/v1/rpc/${key}`, wssUrl: `${network.wssUrl}/v1/rpc/${key}` }
}

/** The network of that slug, as long as the configuration has it. */
export function findNetwork(networks: Readonly<Record<string, Network>>, slug: string): Network | undefined {
  return Object.hasOwn(networks, slug) ? networks[slug] : undefined
}
