import { OVERLAP } from '../ports/endpoints.ts'
import type { EndpointWithKey } from '../ports/endpoints.ts'
import type { EndpointTotals, Totals } from '../ports/ledger.ts'
import { LABELS, withoutNulls } from '../ports/labels.ts'
import { authorOf } from './author.ts'
import { addresses, dailyLimit, flag, name, oneOf, origins, overlap } from './checks.ts'
import { perSecond, text, timeOrNull } from './checks.ts'
import {
  accountNotFound,
  endpointLimitReached,
  endpointNotFound,
  invalidChain,
  invalidParams,
  keyIsLimited,
  keyReused,
} from './errors.ts'
import { labelsOf } from './labels.ts'
import { isLimited, loosens, mayManage } from './limited-key.ts'
import { readParams } from './params.ts'
import type { AccountCaller, EndpointDeps, ServiceReply } from './types.ts'
import { endpointUrls, findNetwork } from './urls.ts'

const status = oneOf('active', 'inactive')
/** Characters of a key's checksum by which its owner tells it from others. */
const HINT = 4
const labels = labelsOf(LABELS.endpoint)
const changes = {
  name,
  status,
  allowedOrigins: origins,
  allowedIps: addresses,
  management: flag,
  perSecond,
  dailyLimit,
  expiresAt: timeOrNull,
  labels,
}

/**
 * service_createEndpoint {chain, …}: what service_updateEndpoint changes may be said at once. The key of an endpoint
 * that an owner creates manages the account if the plan has `management.keys: all`, or if the owner asks for it.
 */
export async function createEndpoint(
  params: unknown,
  caller: AccountCaller,
  { snapshot, endpoints }: EndpointDeps,
): Promise<ServiceReply> {
  if (isLimited(caller)) return keyIsLimited()
  const { account } = caller
  const read = readParams(params, { chain: text }, changes)
  if ('error' in read) return read
  const { chain, labels: given, ...named } = read.values
  if (findNetwork(snapshot.networks, chain) === undefined) return invalidChain(chain)
  const created = await endpoints.create(
    {
      accountId: account.id,
      network: chain,
      ...managementOf(caller, snapshot),
      ...named,
      ...(given === undefined ? {} : { labels: withoutNulls(given) }),
    },
    authorOf(caller),
  )
  if (created === 'limit_reached') return endpointLimitReached()
  if (created === 'other_request') return keyReused()
  if (created === 'no_account') return accountNotFound()
  return { result: identity(created, snapshot) }
}

/**
 * service_listEndpoints {keys?}: all endpoints of the account, with their totals; `keys: false` leaves the keys out. A
 * key with limits sees no other key.
 */
export async function listEndpoints(
  params: unknown,
  caller: AccountCaller,
  { snapshot, endpoints, usage }: EndpointDeps,
): Promise<ServiceReply> {
  const read = readParams(params, {}, { keys: flag })
  if ('error' in read) return read
  const { account } = caller
  const { keys = true } = read.values
  const own = await endpoints.list(account.id)
  const totals = await usage.totals(
    account.id,
    own.map(({ id }) => id),
  )
  const shown = own.map(endpoint => ({
    ...(keys && mayManage(caller, endpoint.id)
      ? identity(endpoint, snapshot)
      : identityWithoutKey(endpoint, snapshot)),
    ...consumption(totals.get(endpoint.id), endpoint.createdAt),
    ...settings(endpoint),
  }))
  return { result: { total: shown.length, endpoints: shown, ...stale(totals) } }
}

/** service_getEndpoint {endpointId}: one endpoint as service_listEndpoints shows it, with its key. */
export async function getEndpoint(
  params: unknown,
  caller: AccountCaller,
  { snapshot, endpoints, usage }: EndpointDeps,
): Promise<ServiceReply> {
  const read = readParams(params, { endpointId: text }, {})
  if ('error' in read) return read
  if (!mayManage(caller, read.values.endpointId)) return keyIsLimited()
  const { account } = caller
  const endpoint = await endpoints.find(account.id, read.values.endpointId)
  if (endpoint === null) return endpointNotFound()
  const totals = await usage.totals(account.id, [endpoint.id])
  const consumed = consumption(totals.get(endpoint.id), endpoint.createdAt)
  return { result: { ...identity(endpoint, snapshot), ...consumed, ...settings(endpoint), ...stale(totals) } }
}

/** service_deleteEndpoint {endpointId} */
export async function deleteEndpoint(
  params: unknown,
  caller: AccountCaller,
  { endpoints }: EndpointDeps,
): Promise<ServiceReply> {
  const read = readParams(params, { endpointId: text }, {})
  if ('error' in read) return read
  if (!mayManage(caller, read.values.endpointId)) return keyIsLimited()
  const deleted = await endpoints.remove(caller.account.id, read.values.endpointId, authorOf(caller))
  return deleted === null ? endpointNotFound() : { result: { deleted: true, endpointId: deleted.id } }
}

/**
 * service_updateEndpoint {endpointId, …}: the way into and out of `inactive`, what a key may be used for, and labels. A
 * key does not loosen its own limits.
 */
export async function updateEndpoint(
  params: unknown,
  caller: AccountCaller,
  { snapshot, endpoints }: EndpointDeps,
): Promise<ServiceReply> {
  const read = readParams(params, { endpointId: text }, changes)
  if ('error' in read) return read
  const { endpointId, ...change } = read.values
  if (!mayManage(caller, endpointId)) return keyIsLimited()
  const isOwn = caller.endpoint?.id === endpointId
  const updated = await endpoints.change(
    caller.account.id,
    endpointId,
    change,
    authorOf(caller),
    isOwn ? before => !loosens(before, change) : undefined,
  )
  if (updated === null) return endpointNotFound()
  if (updated === 'denied') return keyIsLimited()
  if (updated === 'too_many_labels')
    return invalidParams(`an endpoint has at most ${LABELS.endpoint.most} labels`)
  const { createdAt } = updated
  return { result: { ...identity(updated, snapshot), createdAt, ...settings(updated) } }
}

/** service_rotateKey {endpointId, overlap?}: a new key; the old one goes on for `overlap` (1h by default). */
export async function rotateKey(
  params: unknown,
  caller: AccountCaller,
  { snapshot, endpoints }: EndpointDeps,
): Promise<ServiceReply> {
  const read = readParams(params, { endpointId: text }, { overlap })
  if ('error' in read) return read
  const { endpointId, overlap: seconds = OVERLAP.usual } = read.values
  if (!mayManage(caller, endpointId)) return keyIsLimited()
  const rotated = await endpoints.rotateKey(caller.account.id, endpointId, seconds, authorOf(caller))
  if (rotated === 'other_request') return keyReused()
  if (rotated === null) return endpointNotFound()
  const { endpoint, oldKeyExpiresAt } = rotated
  return { result: { ...identity(endpoint, snapshot), oldKeyExpiresAt } }
}

/** Whether the key of a new endpoint manages the account, unless the call specifies it. */
function managementOf({ account, by }: AccountCaller, { plans }: EndpointDeps['snapshot']) {
  const byOwner = by === undefined
  return byOwner && plans[account.plan]?.managementKeys === 'first' ? { management: false } : {}
}

/** The fields that every management method shows of an endpoint, in the spec's order. */
function identity(endpoint: EndpointWithKey, { networks }: EndpointDeps['snapshot']) {
  const { id: endpointId, name, network: chain, status, apiKey } = endpoint
  return { endpointId, name, chain, status, apiKey, ...endpointUrls(findNetwork(networks, chain), apiKey) }
}

/** The same for a reader who is to see no key: its last characters tell keys apart, the URLs are templates. */
function identityWithoutKey(endpoint: EndpointWithKey, { networks }: EndpointDeps['snapshot']) {
  const { id: endpointId, name, network: chain, status, apiKey } = endpoint
  const urls = endpointUrls(findNetwork(networks, chain), '<API_KEY>')
  return { endpointId, name, chain, status, keyHint: apiKey.slice(-HINT), ...urls }
}

/** What its key may be used for, and how its owner tells it from others. */
function settings({ allowedOrigins, allowedIps, management, ...others }: EndpointWithKey) {
  const { perSecond, dailyLimit, expiresAt, lastUsedAt, labels } = others
  return { allowedOrigins, allowedIps, management, perSecond, dailyLimit, expiresAt, lastUsedAt, labels }
}

/** That other gateways' usage is missing. */
function stale({ isStale }: EndpointTotals): { readonly stale?: true } {
  return isStale === true ? { stale: true } : {}
}

/** `requestCount` and the legacy `ruConsumed` both count request units (a call of cost 3 adds 3), `callCount` calls. */
function consumption(totals: Totals | undefined, createdAt: number) {
  const { requests, calls } = totals ?? { requests: 0, calls: 0 }
  return { requestCount: requests, ruConsumed: requests, createdAt, callCount: calls }
}
