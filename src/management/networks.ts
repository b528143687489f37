import type { Network } from '../snapshot/types.ts'
import { readParams } from './params.ts'
import type { ServiceDeps, ServiceReply } from './types.ts'
import { endpointUrls } from './urls.ts'

/** service_supportedNetworks: the networks of the configuration, in its order. */
export function supportedNetworks(params: unknown, { snapshot }: ServiceDeps): ServiceReply {
  const read = readParams(params, {}, {})
  if ('error' in read) return read
  return { result: { networks: Object.values(snapshot.networks).map(describe) } }
}

function describe(network: Network) {
  const { slug, name, chainId, subdomain, wss } = network
  const { httpsUrl: httpsEndpoint, wssUrl: wssEndpoint } = endpointUrls(network, '<API_KEY>')
  return { slug, name, chainId, subdomain, httpsEndpoint, wssEndpoint, wss }
}
