/** How far a beacon node has come, in its own words (beacon API, `GET /eth/v1/node/syncing`). */
import { findMethod } from '../snapshot/find-method.ts'
import type { Network } from '../snapshot/types.ts'
import type { Exchange } from './exchange.ts'

/** The question, asked only of networks whose rules have it: other verbatim networks are judged by their traffic. */
export const SYNCING_PATH = '/eth/v1/node/syncing'

/** Whether the nodes of a network can be asked. */
export function tellsSyncing(network: Network): boolean {
  return network.family === 'http' && findMethod(network, `GET ${SYNCING_PATH}`)?.unable === null
}

/** What a node answered. */
export type SyncState =
  | { readonly kind: 'told'; readonly head: number; readonly syncing: boolean }
  /** It does not know the question, or answers in other words. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'down'; readonly why: string }

/** Reads the answer. */
export function readSyncState(exchange: Exchange): SyncState {
  if (exchange.kind === 'broken') return { kind: 'down', why: exchange.how }
  const { status } = exchange
  if (status === 401 || status === 403 || (status >= 500 && status !== 501))
    return { kind: 'down', why: `http_${status}` }
  if (status !== 200 || exchange.kind === 'open') return { kind: 'unknown' }
  try {
    const { data } = JSON.parse(exchange.body) as { data?: { head_slot?: unknown; is_syncing?: unknown } }
    const head = typeof data?.head_slot === 'string' ? Number(data.head_slot) : NaN
    if (!Number.isSafeInteger(head)) return { kind: 'unknown' }
    return { kind: 'told', head, syncing: data?.is_syncing === true }
  } catch {
    return { kind: 'unknown' }
  }
}
