/** What a beacon node tells of itself (beacon API, "Node" and "Beacon"): how far it has come, and which chain it follows. */
import { asQuantity } from '../../jsonrpc/quantity.ts'
import { isPattern } from '../../net/patterns.ts'
import { findMethod } from '../../snapshot/find-method.ts'
import type { Network } from '../../snapshot/types.ts'
import type { Exchange } from '../transport/exchange.ts'

/** The questions; each is asked only of networks whose rules have it: others are judged by their traffic alone. */
export const SYNCING_PATH = '/eth/v1/node/syncing'
export const GENESIS_PATH = '/eth/v1/beacon/genesis'

/** Whether the nodes of a network can be asked how far they have come. */
export function tellsSyncing(network: Network): boolean {
  return network.family === 'http' && isServed(network, SYNCING_PATH)
}

/** Whether the nodes of a network can be asked for their chain, and there is something to compare. */
export function tellsGenesis(network: Network): boolean {
  return network.family === 'http' && network.genesisHash !== null && isServed(network, GENESIS_PATH)
}

/** A catch-all such as `GET /*` does not make an API a beacon node's. */
function isServed(network: Network, path: string): boolean {
  const row = findMethod(network, `GET ${path}`)
  return row?.unable === null && (!isPattern(row.rule.match) || row.rule.match.startsWith('GET /eth/v1/'))
}

/** What a node answered. */
export type SyncState =
  | { readonly kind: 'told'; readonly head: number; readonly syncing: boolean }
  /** It does not know the question, or answers in other words. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'down'; readonly why: string }

/** Reads the answer about the state of synchronisation. */
export function readSyncState(exchange: Exchange): SyncState {
  const why = whyDown(exchange)
  if (why !== null) return { kind: 'down', why }
  const data = dataOf(exchange)
  const head = asQuantity(data?.['head_slot'])
  if (head === null) return { kind: 'unknown' }
  return { kind: 'told', head, syncing: data?.['is_syncing'] === true }
}

/** What is wrong with the chain that a node told, as a sentence; null when nothing is, or it cannot say. */
export function genesisFault(
  { genesisHash }: Pick<Network, 'genesisHash'>,
  exchange: Exchange,
): string | null {
  const root = dataOf(exchange)?.['genesis_validators_root']
  if (typeof root !== 'string' || root.toLowerCase() === genesisHash?.toLowerCase()) return null
  return 'it follows a chain with another genesis'
}

/** Why an answer says that the node cannot be used; null when it does not. */
export function whyDown(exchange: Exchange): string | null {
  if (exchange.kind === 'broken') return exchange.how
  const { status } = exchange
  const isDown = status === 401 || status === 403 || (status >= 500 && status !== 501)
  return isDown ? `http_${status}` : null
}

function dataOf(exchange: Exchange): Readonly<Record<string, unknown>> | null {
  if (exchange.kind !== 'whole' || exchange.status !== 200) return null
  try {
    const { data } = JSON.parse(exchange.body) as { readonly data?: unknown }
    return typeof data === 'object' ? (data as Readonly<Record<string, unknown>> | null) : null
  } catch {
    return null
  }
}
