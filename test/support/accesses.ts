import { Access } from './access.ts'
import { createAccess, withAccounts } from './accounts.ts'
import type { Gateway } from './gateway.ts'

/** Ways into many networks, all of one account. */
export interface Accesses {
  /** The way into one of them. */
  in(slug: string): Access
  /** What the endpoint of each network has been charged, all asked for at once. */
  usage(): Promise<ReadonlyMap<string, { readonly requests: number; readonly calls: number }>>
}

/** Creates an account with an endpoint on each of these networks. */
export async function createAccesses(
  gateway: Gateway,
  plan: string,
  slugs: readonly string[],
): Promise<Accesses> {
  const first = await createAccess(gateway, plan, slugs[0]!)
  const all = new Map([[first.slug, first]])
  await withAccounts(gateway, async accounts => {
    for (const slug of slugs.slice(1)) {
      const endpoint = await accounts.createEndpoint({ accountId: first.accountId, network: slug })
      if (typeof endpoint === 'string') throw new Error(`no endpoint on ${slug}: ${endpoint}`)
      all.set(slug, new Access(gateway, slug, endpoint.apiKey, endpoint.id, first.accountId))
    }
  })
  const usage = async () => {
    const { endpoints } = await first.managed('service_listEndpoints')
    const rows = new Map<string, any>(
      endpoints.map((endpoint: any): [string, any] => [endpoint.endpointId, endpoint]),
    )
    return new Map(
      [...all].map(([slug, { endpointId }]) => {
        const { requestCount, callCount } = rows.get(endpointId)
        return [slug, { requests: requestCount as number, calls: callCount as number }]
      }),
    )
  }
  return { in: slug => all.get(slug)!, usage }
}
