import type { MethodRow, Network } from '../snapshot/types.ts'
import { text } from './checks.ts'
import { invalidChain } from './errors.ts'
import { readParams } from './params.ts'
import type { AccountCaller, ServiceDeps, ServiceReply } from './types.ts'
import { findNetwork } from './urls.ts'

/**
 * service_methods {chain}: what can be called on a network: the price of a call in request units, its tier and whether the caller's plan has it, what its
 * nodes need, and whether any node here can serve it. A name that ends in `*` stands for all methods that begin like this.
 */
export function networkMethods(
  params: unknown,
  { account }: AccountCaller,
  { snapshot }: ServiceDeps,
): ServiceReply {
  const read = readParams(params, { chain: text }, {})
  if ('error' in read) return read
  const { chain } = read.values
  const network = findNetwork(snapshot.networks, chain)
  if (network === undefined) return invalidChain(chain)
  const tiers = findNetwork(snapshot.plans, account.plan)?.tiers ?? []
  return { result: { chain, methods: rowsOf(network).map(one => describe(one, tiers)) } }
}

type Named = readonly [name: string, row: MethodRow]

/** Methods by name, then patterns; what only another chain has is left out. */
function rowsOf({ methods, patterns }: Network): readonly Named[] {
  const named: Named[] = Object.entries(methods)
  named.sort(([a], [b]) => (a < b ? -1 : 1))
  const all = [...named, ...patterns.map((row): Named => [row.rule.match, row])]
  return all.filter(([, { unable }]) => unable?.reason !== 'method_not_found')
}

function describe([method, { rule, unable }]: Named, tiers: readonly string[]) {
  const { cost, tier, needs, params, subscribe, unsubscribes } = rule
  return {
    method,
    cost,
    tier,
    included: tiers.includes(tier),
    needs,
    params,
    available: unable === null,
    wssOnly: subscribe !== null || unsubscribes !== null,
  }
}
