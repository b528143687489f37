/** The networks and how they are doing. */
import { service } from '../api/service.ts'
import type { Network, NetworkStatus } from '../api/types.ts'
import { resource } from './resource.ts'

/** A network together with its live state. */
export type LiveNetwork = Network & NetworkStatus

export const networks = resource(async (): Promise<readonly LiveNetwork[]> => {
  const [supported, live] = await Promise.all([
    service('service_supportedNetworks'),
    service('service_networkStatus'),
  ])
  const states = new Map(live.networks.map(state => [state.slug, state]))
  return supported.networks.flatMap(network => {
    const state = states.get(network.slug)
    return state === undefined ? [] : [{ ...network, ...state }]
  })
})

/** A network's name; its slug when it is no longer served. */
export function networkName(slug: string): string {
  return networks.known.value.value?.find(network => network.slug === slug)?.name ?? slug
}
