/** What a beacon node reports of itself (beacon API, "Node" and "Beacon"): how far it has come, and which chain it follows. */
import { asQuantity } from '../../jsonrpc/quantity.ts'
import { isPattern } from '../../net/patterns.ts'
import { findMethod } from '../../snapshot/find-method.ts'
import type { Network } from '../../snapshot/types.ts'
import type { Page, ProbeWords } from '../probing.ts'

/** The questions; each is asked only of networks whose rules have it: others are judged by their traffic alone. */
const SYNCING_PATH = '/eth/v1/node/syncing'
const GENESIS_PATH = '/eth/v1/beacon/genesis'

export const beaconProbe: ProbeWords = {
  question: () => null,

  probe: async probing => {
    if (!tellsSyncing(probing.network)) return
    const state = readSyncState(await probing.get(SYNCING_PATH))
    probing.alive(state.kind === 'down' ? state.why : null)
    if (state.kind !== 'told') return
    probing.route.syncing = state.syncing
    probing.claim(state.head)
  },

  confirm: async probing => {
    if (tellsSyncing(probing.network)) probing.alive(whyDown(await probing.get(SYNCING_PATH)))
  },

  identify: async probing => {
    if (!tellsGenesis(probing.network)) return null
    const page = await probing.get(GENESIS_PATH)
    return whyDown(page) === null ? genesisFault(probing.network, page) : undefined
  },
}

/** Whether the nodes of a network can be asked how far they have come. */
function tellsSyncing(network: Network): boolean {
  return isServed(network, SYNCING_PATH)
}

/** Whether the nodes of a network can be asked for their chain, and there is something to compare. */
function tellsGenesis(network: Network): boolean {
  return network.genesisHash !== null && isServed(network, GENESIS_PATH)
}

/** A catch-all such as `GET /*` does not make an API a beacon node's. */
function isServed(network: Network, path: string): boolean {
  const row = findMethod(network, `GET ${path}`)
  return row?.unable === null && (!isPattern(row.rule.match) || row.rule.match.startsWith('GET /eth/v1/'))
}

/** What a node answered. */
type SyncState =
  | { readonly kind: 'told'; readonly head: number; readonly syncing: boolean }
  /** It does not know the question, or answers in other words. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'down'; readonly why: string }

/** Reads the answer about the state of synchronisation. */
function readSyncState(page: Page): SyncState {
  const why = whyDown(page)
  if (why !== null) return { kind: 'down', why }
  const data = dataOf(page)
  const head = asQuantity(data?.['head_slot'])
  if (head === null) return { kind: 'unknown' }
  return { kind: 'told', head, syncing: data?.['is_syncing'] === true }
}

/** What is wrong with the chain that a node told, as a sentence; null when nothing is, or it cannot say. */
function genesisFault({ genesisHash }: Pick<Network, 'genesisHash'>, page: Page): string | null {
  const root = dataOf(page)?.['genesis_validators_root']
  if (typeof root !== 'string' || root.toLowerCase() === genesisHash?.toLowerCase()) return null
  return 'it follows a chain with another genesis'
}

/** Why an answer says that the node cannot be used; null when it does not. */
function whyDown(page: Page): string | null {
  if (page.kind === 'broken') return page.how
  const { status } = page
  const isDown = status === 401 || status === 403 || (status >= 500 && status !== 501)
  return isDown ? `http_${status}` : null
}

function dataOf(page: Page): Readonly<Record<string, unknown>> | null {
  if (page.kind !== 'whole' || page.status !== 200) return null
  try {
    const { data } = JSON.parse(page.body) as { readonly data?: unknown }
    return typeof data === 'object' ? (data as Readonly<Record<string, unknown>> | null) : null
  } catch {
    return null
  }
}
