/** Finds the cell of a call without building a key per call. */
import { empty, emptyCell } from './cell.ts'
import type { Cell } from './cell.ts'

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
  #touched: Cell[] = []
  /** Places that the journal held at the start; they are not given again before it is emptied. */
  #taken = 0
  /** The touched ones of each account. */
  #byAccount = new Map<string, Cell[]>()

  /** Takes in what a killed process has left in the journal, which used places up to `last`. */
  recover(cells: readonly Cell[], last: number): void {
    this.#taken = last
    cells.forEach(cell => {
      this.touchAgain(cell)
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
  touchRefused(owner: Owner, method: string, hour: number, window: number): Cell {
    const endpoint = this.#endpoint(owner.endpoint.id)
    if (method === OTHER || endpoint.methods.get(method)?.hour === hour)
      return this.touch(owner, method, hour, window)
    if (endpoint.hour !== hour) {
      endpoint.hour = hour
      endpoint.refusedOnly = 0
    }
    if (endpoint.refusedOnly >= REFUSED_ONLY) return this.touch(owner, OTHER, hour, window)
    endpoint.refusedOnly += 1
    return this.touch(owner, method, hour, window)
  }

  /** Marks a cell that is held already. */
  touchAgain(cell: Cell): void {
    if (cell.place > 0) return
    cell.place = this.#taken + this.#touched.push(cell)
    const others = this.#byAccount.get(cell.account)
    if (others === undefined) this.#byAccount.set(cell.account, [cell])
    else others.push(cell)
  }

  /** The touched cells of an account. */
  of(account: string): readonly Cell[] {
    return this.#byAccount.get(account) ?? NONE
  }

  /** How many cells the next fold has to write. */
  get size(): number {
    return this.#touched.length
  }

  /** The touched cells. */
  contents(): readonly Cell[] {
    return this.#touched
  }

  /** Empties the cells, all of which the ledger has taken over, and forgets endpoints that were quiet meanwhile. */
  clear(): void {
    const written = this.#touched
    this.#touched = []
    this.#taken = 0
    this.#byAccount = new Map()
    written.forEach(empty)
    if (this.#byEndpoint.size <= REMEMBERED) return
    const live = new Set(written.map(cell => cell.endpoint))
    for (const endpoint of this.#byEndpoint.keys()) if (!live.has(endpoint)) this.#byEndpoint.delete(endpoint)
  }

  #find({ account, endpoint }: Owner, method: string, hour: number, window: number): Cell {
    const { methods } = this.#endpoint(endpoint.id)
    const cell = methods.get(method)
    if (cell?.hour === hour && cell.window === window) return cell
    const { id, network } = endpoint
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
