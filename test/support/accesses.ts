import { Access } from './access.ts'
import { createAccess, withAccounts } from './accounts.ts'
import type { Gateway } from './gateway.ts'

/** Endpoints that one account may have. */
const most = 100

/** Ways into many networks, all of one account, or of as few as may have so many. */
export interface Accesses {
  /** The way into one of them. */
  in(slug: string): Access
  /** What the endpoint of each network has been charged, all asked for at once. */
  usage(): Promise<ReadonlyMap<string, { readonly requests: number; readonly calls: number }>>
}

/** Creates an account with an endpoint on each of these networks, or several where one may not have so many. */
export async function createAccesses(
  gateway: Gateway,
  plan: string,
  slugs: readonly string[],
): Promise<Accesses> {
  const all = new Map<string, Access>()
  const firsts: Access[] = []
  for (let at = 0; at < slugs.length; at += most) {
    const first = await createAccess(gateway, plan, slugs[at]!)
    firsts.push(first)
    all.set(first.slug, first)
    await withAccounts(gateway, async store => {
      for (const slug of slugs.slice(at + 1, at + most)) {
        const endpoint = await store.endpoints.create({ accountId: first.accountId, network: slug })
        if (typeof endpoint === 'string') throw new Error(`no endpoint on ${slug}: ${endpoint}`)
        all.set(slug, new Access(gateway, slug, endpoint.apiKey, endpoint.id, first.accountId))
      }
    })
  }
  const usage = async () => {
    const rows = new Map<string, any>()
    for (const first of firsts) {
      const { endpoints } = await first.managed('service_listEndpoints')
      for (const endpoint of endpoints) rows.set(endpoint.endpointId, endpoint)
    }
    return new Map(
      [...all].map(([slug, { endpointId }]) => {
        const { requestCount, callCount } = rows.get(endpointId)
        return [slug, { requests: requestCount as number, calls: callCount as number }]
      }),
    )
  }
  return { in: slug => all.get(slug)!, usage }
}
