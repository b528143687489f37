/** Who calls: from the key in the path to a caller, in the order of checks that the design fixes. */
import { familyOf } from '../families/families.ts'
import type { KeyOwner, Keys } from '../ports/keys.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { SubscribeCall } from '../ports/subscriptions.ts'
import type { CodeColumn, Refusal } from '../refusal/refusal.ts'
import type { RateLimit } from '../ports/limits.ts'
import type { ClientTrace } from '../ports/tracing.ts'
import type { WholeAnswer } from './reply/answer.ts'
import type { MethodRow, Network, Plan, Snapshot } from '../snapshot/types.ts'
import type { PublicCaller } from '../limits/fair-share.ts'
import type { Endpoint } from '../ports/endpoints.ts'
import { inSet, parseSet } from '../net/address-range.ts'
import type { AddressSet } from '../net/address-range.ts'
import { refuse } from '../refusal/refusal.ts'

/** Who is charged: the owner of the key, and the plan of the moment. */
export interface Payer extends Pick<KeyOwner, 'account' | 'endpoint'> {
  readonly plan: Plan
  readonly endpointRate: RateLimit | null
}

/** A caller on a private route has a payer; on the public route it is known by address only. */
export interface Caller {
  readonly network: Network
  readonly plan: Plan
  readonly payer: Payer | null
  /** The client's address, an IPv6 one cut to its /64. */
  readonly address: string
  readonly transport: 'http' | 'ws'
  /** Where subscriptions live; null over HTTP. */
  readonly session: Session | null
  /** What its client says of kept answers; absent where it says nothing. */
  readonly freshness?: Freshness | undefined
  /** The trace that its client says it belongs to; absent where it says nothing, or nothing is traced. */
  readonly trace?: ClientTrace | undefined
  /** As whom it was admitted, to be admitted again. */
  readonly visitor: Visitor
}

/** HTTP's Cache-Control (RFC 9111): `no-cache` takes no kept answer, `no-store` leaves none either. */
export type Freshness = 'no-cache' | 'no-store'

/** A socket's side of subscribing. */
export interface Session {
  /** Why no more calls are taken on this socket, which closes; null while they are. */
  readonly refusal: Refusal | null
  /** Begins a subscription; the answer holds the client's own id for it. */
  subscribe(row: MethodRow, call: SubscribeCall, caller: Caller): Promise<WholeAnswer>
  /** Whether the first of the params is the id of a subscription of this socket. */
  holds(params: Raw): boolean
  /** Ends a subscription of this socket; another's id is unknown. */
  unsubscribe(params: Raw, caller: Caller): WholeAnswer
}

/** Which column of refusal codes a network's clients expect. */
export function columnOf(network: Network | null): CodeColumn {
  return network === null ? 'evm' : familyOf(network).codes
}

/** Who holds connections and subscriptions: the account, or on the public route the address. */
export function holderOf({ payer, address }: Pick<Caller, 'payer' | 'address'>): string {
  return payer === null ? (`public ${address}` satisfies PublicCaller) : payer.account.id
}

/** What is known of a message before its body is read. */
export interface Visitor {
  readonly network: Network
  /** The last path segment: a key, or `public`. */
  readonly key: string
  /** The client's address. */
  readonly address: string
  /** The address that limits count, an IPv6 one cut to its /64. */
  readonly limitAddress: string
  readonly origin: string | undefined
  readonly transport: 'http' | 'ws'
  readonly session: Session | null
  readonly freshness?: Freshness | undefined
  readonly trace?: ClientTrace | undefined
}

/** The caller that a visitor's key stands for. */
export function authenticate(visitor: Visitor, snapshot: Snapshot, keys: Keys): Caller | Refusal {
  const { network, key, limitAddress: address, transport, session, freshness, trace } = visitor
  if (key === 'public') {
    const plan = snapshot.plans['public']
    return network.public && plan !== undefined
      ? { network, plan, payer: null, address, transport, session, freshness, trace, visitor }
      : refuse('invalid_key')
  }
  if (isTooOld(snapshot, keys)) return refuse('store_unavailable', TOO_OLD)
  const owner = keys.find(key)
  if (owner === null) return refuse('invalid_key')
  const { account, endpoint } = owner
  if (account.status !== 'active') return refuse('account_suspended')
  if (endpoint.status !== 'active') return refuse('endpoint_inactive')
  if (endpoint.network !== network.slug) return refuse('wrong_network')
  const restriction = checkRestrictions(endpoint, visitor)
  if (restriction !== null) return restriction
  const plan = snapshot.plans[account.plan]
  // A reload that removes a plan in use is refused, so only a hand-edited database comes here.
  if (plan === undefined) return refuse('account_suspended', 'The plan of the account no longer exists')
  const payer = { account, endpoint, plan, endpointRate: endpointRate(endpoint, network, plan) }
  return { network, plan, payer, address, transport, session, freshness, trace, visitor }
}

const TOO_OLD = 'The database of accounts has not been reached for too long, so no key is served'

/** Whether a key may have been revoked so long ago that none is served any more. */
function isTooOld({ gateway: { postgres } }: Snapshot, { age = 0 }: Keys): boolean {
  return postgres !== null && postgres.accountsMaxAge !== null && age > postgres.accountsMaxAge
}

/** An endpoint's own rate bursts as its plan's does, and always enough for the most expensive call. */
function endpointRate({ perSecond }: Endpoint, { maxCost }: Network, { rate }: Plan): RateLimit | null {
  if (perSecond === null) return null
  const ratio = rate === null ? 1 : rate.burst / rate.perSecond
  return { perSecond, burst: Math.max(maxCost, perSecond * ratio) }
}

function checkRestrictions(endpoint: Endpoint, { address, origin }: Visitor): Refusal | null {
  const denied = checkAddress(endpoint, address)
  if (denied !== null) return denied
  const { allowedOrigins } = endpoint
  if (allowedOrigins !== null && (origin === undefined || !allowedOrigins.includes(origin)))
    return refuse('origin_denied')
  return null
}

/** Whether the endpoint's owner lets its key be used from an address. */
export function checkAddress({ allowedIps }: Pick<Endpoint, 'allowedIps'>, address: string): Refusal | null {
  if (allowedIps === null || inSet(address, setOf(allowedIps))) return null
  return refuse('address_denied')
}

/** By the list of an endpoint, which is another object once the endpoint is changed or read anew. */
const sets = new WeakMap<readonly string[], AddressSet>()

function setOf(allowedIps: readonly string[]): AddressSet {
  let set = sets.get(allowedIps)
  if (set === undefined) sets.set(allowedIps, (set = parseSet(allowedIps)))
  return set
}

/** Who owns filters and floors: the endpoint, or on the public route the address. */
export function readerOf({ payer, address }: Pick<Caller, 'payer' | 'address'>): string {
  return payer?.endpoint.id ?? `public ${address}`
}
