/** The account and its endpoints. */
import { service } from '../api/service.ts'
import type { Change, Rotated, Secrets } from '../api/types.ts'
import { resource } from './resource.ts'

export const account = resource(() => service('service_account'))

/** Without their keys: those are asked for one at a time. */
export const endpoints = resource(
  async () => (await service('service_listEndpoints', { keys: false })).endpoints,
)

/** The endpoint's name; with its id where several have the same. */
export function endpointName(endpointId: string): string {
  const all = endpoints.known.value.value ?? []
  const name = all.find(one => one.endpointId === endpointId)?.name
  if (name === undefined) return `deleted (${endpointId})`
  return all.filter(one => one.name === name).length > 1 ? `${name} (${endpointId})` : name
}

/** The key and URLs of one endpoint. */
export function reveal(endpointId: string): Promise<Secrets> {
  return service('service_getEndpoint', { endpointId })
}

/** Makes an endpoint; gives its id. */
export async function createEndpoint(chain: string, name: string): Promise<string> {
  const wish = name === '' ? { chain } : { chain, name }
  const { endpointId } = await service('service_createEndpoint', wish)
  await endpoints.load()
  return endpointId
}

/** Changes an endpoint. */
export async function updateEndpoint(endpointId: string, change: Change): Promise<void> {
  await service('service_updateEndpoint', { endpointId, ...change })
  await endpoints.load()
}

/** Changes several endpoints alike, one after the other; what was changed before one fails stays. */
export async function updateEndpoints(endpointIds: readonly string[], change: Change): Promise<void> {
  try {
    for (const endpointId of endpointIds) await service('service_updateEndpoint', { endpointId, ...change })
  } finally {
    await endpoints.load()
  }
}

/** Gives an endpoint a new key; the old one works for `overlap` (such as "1h"). Tells when it ends. */
export async function rotateKey(endpointId: string, overlap: string): Promise<Rotated> {
  const rotated = await service('service_rotateKey', { endpointId, overlap })
  await endpoints.load()
  return rotated
}

/** Deletes an endpoint; its key is revoked from then on. */
export async function deleteEndpoint(endpointId: string): Promise<void> {
  await service('service_deleteEndpoint', { endpointId })
  await endpoints.load()
}
