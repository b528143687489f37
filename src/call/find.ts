/** First stage of a call's decision: does the method exist here, and may this plan call it. */
import { familyOf } from '../families/families.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { findMethod } from '../snapshot/find-method.ts'
import type { MethodRow, Network, Plan } from '../snapshot/types.ts'

/** The row of a method that this transport can carry. */
export function findRow(network: Network, method: string, transport: 'http' | 'ws'): MethodRow | Refusal {
  const row = findMethod(network, method)
  if (row === null || row.unable?.reason === 'method_not_found') return unknownMethod(network)
  if (row.rule.match !== method && !familyOf(network).methodName.test(method)) return unknownMethod(network)
  const overSocket = row.rule.subscribe !== null || row.rule.unsubscribes !== null
  if (overSocket && transport === 'http')
    return refuse('method_not_found', 'Subscriptions need a WebSocket connection to this endpoint')
  return row
}

/** By network: what it does not have is asked for by the thousand, and is refused in the same words. */
const unknown = new WeakMap<Network, Refusal>()

function unknownMethod(network: Network): Refusal {
  let refusal = unknown.get(network)
  if (refusal === undefined) {
    const sentence = `The method does not exist or is not available on ${network.name}`
    unknown.set(network, (refusal = refuse('method_not_found', sentence)))
  }
  return refusal
}

/** Whether the plan includes the row's tier. */
export function checkTier(row: MethodRow, plan: Pick<Plan, 'tiers'>): Refusal | null {
  const { tier } = row.rule
  if (plan.tiers.includes(tier)) return null
  return refuse(
    'plan_required',
    `This method is part of the tier "${tier}", which the plan does not include`,
    { tier },
  )
}
