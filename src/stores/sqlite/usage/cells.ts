/** Finds the cell of a call without building a key per call. */

/** Whose usage a cell holds. */
export interface Owner {
  readonly account: { readonly id: string }
  readonly endpoint: { readonly id: string; readonly network: string }
}

const NONE: readonly Cell[] = []

/** Endpoints whose cells are kept while they are quiet. */
const REMEMBERED = 20_000
/** Methods of an endpoint that have a row of their own in an hour although all their calls were refused. */
const REFUSED_ONLY = 8
/** The row of refused calls that have no other. */
const OTHER = 'other'

/** The cells of one endpoint. */
interface Endpoint {
  readonly methods: Map<string, Cell>
  /** The hour in which a refused call last made a row, and how many it made in that hour. */
  hour: number
  refusedOnly: number
}

/** The cells in use now, by endpoint and method; holds the latest hour of each. */
export class Cells {
  readonly #byEndpoint = new Map<string, Endpoint>()
  /** What is to be folded, in the order of their places. */
  readonly #touched: Cell[] = []
  #last = 0
  /** The touched ones of each account, in the same order. */
  readonly #byAccount = new Map<string, Cell[]>()
  /** Endpoints of cells that were folded since quiet ones were last forgotten. */
  #lively = new Set<string>()

  /** Takes in what a killed process has left in the journal, with the places that it has there; `last` is the last that was given. */
  recover(cells: readonly Cell[], last: number): void {
    this.#last = last
    cells.forEach(cell => {
      this.#push(cell)
    })
  }

  /** The cell of an owner, method, hour and window, marked as having something for the ledger. */
  touch(owner: Owner, method: string, hour: number, window: number): Cell {
    const cell = this.#find(owner, method, hour, window)
    this.touchAgain(cell)
    return cell
  }

  /**
   * The same for a refused call. It costs its caller nothing, so it makes rows for a few methods only; the others are counted as one until a
   * call of theirs is charged.
   */
  touchRefused(owner: Owner, method: string, hour: number): Cell {
    const { id, network } = owner.endpoint
    const endpoint = this.#endpoint(id)
    const known = endpoint.methods.get(method)
    if (known?.hour === hour && known.network === network) {
      this.touchAgain(known)
      return known
    }
    if (method === OTHER) return this.touch(owner, OTHER, hour, 0)
    if (endpoint.hour !== hour) {
      endpoint.hour = hour
      endpoint.refusedOnly = 0
    }
    if (endpoint.refusedOnly >= REFUSED_ONLY) return this.touchRefused(owner, OTHER, hour)
    endpoint.refusedOnly += 1
    return this.touch(owner, method, hour, 0)
  }

  /** Marks a cell that is held already. */
  touchAgain(cell: Cell): void {
    if (cell.place > 0) return
    this.#last += 1
    cell.place = this.#last
    this.#push(cell)
  }

  /** The touched cells of an account. */
  of(account: string): readonly Cell[] {
    return this.#byAccount.get(account) ?? NONE
  }

  /** The last place that was given. */
  get last(): number {
    return this.#last
  }

  /** The touched cells, in the order of their places. */
  contents(): readonly Cell[] {
    return this.#touched
  }

  /** Empties the first `count` touched cells, which the ledger has taken over. Those with charges that wait for a commit are touched again. */
  release(count: number): void {
    const released = this.#touched.splice(0, count)
    const counts = new Map<string, number>()
    for (const { account } of released) counts.set(account, (counts.get(account) ?? 0) + 1)
    for (const [account, own] of counts) {
      const cells = this.#byAccount.get(account)
      if (cells?.length === own) this.#byAccount.delete(account)
      else cells?.splice(0, own)
    }
    for (const cell of released) {
      this.#lively.add(cell.endpoint)
      empty(cell)
      if (cell.waitingCalls > 0) this.touchAgain(cell)
    }
  }

  /** Gives places from the first again: none is in use, and the journal is empty. */
  startAnew(): void {
    this.#last = 0
  }

  /** Forgets endpoints that were quiet since this was last called, when there are many. */
  forgetQuiet(): void {
    const lively = this.#lively
    this.#lively = new Set()
    if (this.#byEndpoint.size <= REMEMBERED) return
    for (const { endpoint } of this.#touched) lively.add(endpoint)
    for (const endpoint of this.#byEndpoint.keys())
      if (!lively.has(endpoint)) this.#byEndpoint.delete(endpoint)
  }

  #push(cell: Cell): void {
    this.#touched.push(cell)
    const others = this.#byAccount.get(cell.account)
    if (others === undefined) this.#byAccount.set(cell.account, [cell])
    else others.push(cell)
  }

  #find({ account, endpoint }: Owner, method: string, hour: number, window: number): Cell {
    const { methods } = this.#endpoint(endpoint.id)
    const { id, network } = endpoint
    const cell = methods.get(method)
    if (cell?.hour === hour && cell.window === window && cell.network === network) return cell
    const fresh = emptyCell({ account: account.id, endpoint: id, network, method, hour, window })
    methods.set(method, fresh)
    return fresh
  }
  #endpoint(id: string): Endpoint {
    let endpoint = this.#byEndpoint.get(id)
    if (endpoint === undefined) {
      endpoint = { methods: new Map(), hour: 0, refusedOnly: 0 }
      this.#byEndpoint.set(id, endpoint)
    }
    return endpoint
  }
}

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
