/** The methods of each network. */
import { service } from '../api/service.ts'
import type { Method } from '../api/types.ts'
import { resource } from './resource.ts'
import type { Resource } from './resource.ts'

const byNetwork = new Map<string, Resource<readonly Method[]>>()

/** What can be called on a network; fetched once. */
export function methodsOf(chain: string): Resource<readonly Method[]> {
  let methods = byNetwork.get(chain)
  if (methods === undefined) {
    methods = resource(
      async () => (await service('service_methods', { chain })).methods,
      () => Infinity,
    )
    byNetwork.set(chain, methods)
  }
  return methods
}

/** The price and needs of a method by its name: its own row, or that of the pattern that covers it. */
export function findMethod(methods: readonly Method[], name: string): Method | null {
  const own = methods.find(({ method }) => method === name)
  const covers = ({ method }: Method): boolean => method.endsWith('*') && name.startsWith(method.slice(0, -1))
  return own ?? methods.find(covers) ?? null
}

/** Why an owner cannot call it; empty where they can. */
export function whyNot({ included, available, tier, needs, wssOnly }: Method, overWss = true): string {
  if (!included) return `not in your plan (tier ${tier})`
  if (!available)
    return needs.length === 0 ? 'not offered here' : `needs ${needs.join(', ')}: not offered here`
  return wssOnly && !overWss ? 'over WSS only' : ''
}
