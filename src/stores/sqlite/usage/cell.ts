/** A cell: what one endpoint used of one method within one hour and one quota window. */
export interface CellKey {
  readonly account: string
  readonly endpoint: string
  readonly network: string
  /** The rule's name, never a name that only a client chose. */
  readonly method: string
  /** Unix seconds. */
  readonly hour: number
  /** Start of the quota window in Unix seconds; 0 without a quota. */
  readonly window: number
}

/** What has come to a cell since the ledger last took it over. */
export interface Cell extends CellKey {
  calls: number
  requests: number
  /** Calls that a node answered with an error. */
  errors: number
  refusals: number
  /** The refusals by reason; null while there are none. */
  reasons: Map<string, number> | null
  bytesOut: number
  upstreamMs: number
  /** Its place among the cells that are to be folded, which go in this order, from 1; 0 while it has nothing for the ledger. */
  place: number
  /** Whether the journal says whose that place is. */
  named: boolean
  /** Calls charged in the group of commits that is open; not yet among `calls`. */
  waitingCalls: number
  /** Their requests. */
  waitingRequests: number
}

/** A cell with nothing in it. */
export function emptyCell({ account, endpoint, network, method, hour, window }: CellKey): Cell {
  // One literal, so that all cells have one shape: they are met by every call.
  return {
    account,
    endpoint,
    network,
    method,
    hour,
    window,
    calls: 0,
    requests: 0,
    errors: 0,
    refusals: 0,
    reasons: null,
    bytesOut: 0,
    upstreamMs: 0,
    place: 0,
    named: false,
    waitingCalls: 0,
    waitingRequests: 0,
  }
}

/** Takes out what the ledger has taken over. */
export function empty(cell: Cell): void {
  cell.calls = cell.requests = cell.errors = cell.refusals = cell.bytesOut = cell.upstreamMs = 0
  cell.reasons = null
  cell.place = 0
  cell.named = false
}
