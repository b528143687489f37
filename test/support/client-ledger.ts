/** What was used of one method. */
export interface Use {
  calls: number
  /** Units of cost. */
  requests: number
}

/** What was used, by method. */
export type UseByMethod = ReadonlyMap<string, Use>

/** One call as a client makes it; without an id it is a notification, which is never answered. */
export interface ClientCall {
  readonly id: string | null
  readonly method: string
  readonly text: string
}

/** What the client of one endpoint was told was done for it, and what it asked for and never heard of again. */
export class ClientLedger {
  /** Answered by a node or by the gateway itself: must be metered. */
  readonly told = new Map<string, Use>()
  /** May be metered or not. */
  readonly unheard = new Map<string, Use>()
  /** Calls that a node answered with an error, by method. */
  readonly errors = new Map<string, number>()
  /** Refused calls, by reason; none of them is metered. */
  readonly refusals = new Map<string, number>()
  /** Of all that was never heard of, also before the last `settle`. */
  everUnheard = 0
  readonly #costs: Readonly<Record<string, number>>
  readonly #answered = new Set<string>()

  constructor(costs: Readonly<Record<string, number>>) {
    this.#costs = costs
  }

  /** Every call that was told of, refused ones included. */
  get heard(): number {
    return this.#answered.size
  }

  /** Takes the reply to a message of these calls, or that its connection ended without one. */
  reply(calls: readonly ClientCall[], text: string | undefined): void {
    if (text === undefined) for (const { method } of calls) this.lost(method)
    else if (text === '') for (const call of calls) this.#add(this.told, call.method)
    else {
      const parsed: any = JSON.parse(text)
      const answers = new Map<unknown, any>([parsed].flat().map((answer: any) => [answer.id, answer]))
      for (const call of calls) this.#answer(call, answers.get(call.id))
    }
  }

  /** One message of a subscription arrived. */
  notified(method: string): void {
    this.#add(this.told, method)
  }

  /** One call or message of a subscription may have been under way when nobody listened any more. */
  lost(method: string): void {
    if (method in this.#costs) this.#add(this.unheard, method)
  }

  /** Begins anew from what is metered now, so that every bound is about what comes after. */
  settle(metered: UseByMethod): void {
    this.everUnheard += total(this.unheard).calls
    this.unheard.clear()
    this.told.clear()
    for (const [method, use] of metered) this.told.set(method, { ...use })
  }

  #answer({ id, method }: ClientCall, answer: any): void {
    if (id === null) {
      this.#add(this.told, method)
      return
    }
    if (answer === undefined || this.#answered.has(id))
      throw new Error(`${method} ${id} is not answered once`)
    this.#answered.add(id)
    const reason: string | undefined = answer.error?.data?.reason
    if (reason !== undefined) this.refusals.set(reason, (this.refusals.get(reason) ?? 0) + 1)
    else {
      this.#add(this.told, method)
      if (answer.error !== undefined) this.errors.set(method, (this.errors.get(method) ?? 0) + 1)
    }
  }

  #add(uses: Map<string, Use>, method: string): void {
    const cost = this.#costs[method]
    if (cost === undefined) throw new Error(`nobody knows what ${method} costs`)
    const use = uses.get(method) ?? { calls: 0, requests: 0 }
    uses.set(method, { calls: use.calls + 1, requests: use.requests + cost })
  }
}

/** The sum over all methods. */
export function total(uses: UseByMethod): Use {
  const sum = { calls: 0, requests: 0 }
  for (const { calls, requests } of uses.values()) {
    sum.calls += calls
    sum.requests += requests
  }
  return sum
}

let lastId = 0

/** A call with an id that no other call has. */
export function clientCall(method: string, params: unknown): ClientCall {
  const id = `c${++lastId}`
  return { id, method, text: JSON.stringify({ jsonrpc: '2.0', id, method, params }) }
}

/** A call that wants no answer. */
export function clientNotification(method: string, params: unknown): ClientCall {
  return { id: null, method, text: JSON.stringify({ jsonrpc: '2.0', method, params }) }
}

/** The body of a message of these calls: an array for more than one. */
export function bodyOf(calls: readonly ClientCall[]): string {
  return calls.length === 1 ? calls[0]!.text : `[${calls.map(({ text }) => text).join()}]`
}
