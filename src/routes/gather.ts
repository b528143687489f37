/** Calls of one client's batch on their way to nodes: those for one route that leave in one turn of the event loop go in one body. */
import type { Raw } from '../jsonrpc/raw.ts'
import type { Holder } from '../limits/byte-budget.ts'
import type { Departure } from '../net/departure.ts'
import type { Asked } from './asked.ts'
import { MOST_REPLIED } from './batching.ts'
import type { Batching } from './batching.ts'
import { shareOut } from './body-reply.ts'
import type { BodyOutcome } from './health/call-health.ts'
import type { RouteLimits } from './route-limits.ts'
import type { Exchange, ExchangeLimits } from './transport/exchange.ts'
import type { RouteClient } from './transport/route-client.ts'

/** Bytes of calls in one body; a call that is longer goes by itself. */
const MOST_SENT = 256 * 1024

/** What of a route a body of calls needs. */
export interface RouteParts {
  readonly client: RouteClient
  readonly limits: RouteLimits
  readonly batching: Batching
}

/** One call, which may be sent again; its reply is held whole. */
export interface Gathered {
  readonly asked: Asked
  readonly limits: ExchangeLimits
  /** It is sent. `isCounted`: whether it counts as in flight for all of its body. */
  readonly begun: (isCounted: boolean) => void
  readonly done: (exchange: Exchange, outcome: OneBody | null) => void
}

/** The message whose calls these are. */
export interface Gathering {
  /** Counts the bytes of one reply while they are held for all of its calls. */
  readonly hold: () => Holder
  /** Of its client; asked for only while a body waits for a connection. */
  readonly departure: () => Departure | null
  /** Made with the first of them. */
  gather: Gather | null
}

/** Calls for one route with the same time to be answered in: none waits for one that may take longer. */
interface Body {
  readonly parts: RouteParts
  readonly calls: Gathered[]
  bytes: number
}

/** What the calls of one body say of their route: together no more than one call does. */
export class OneBody implements BodyOutcome {
  readonly #said = { answered: false, failed: false }

  isFirst(what: 'answered' | 'failed'): boolean {
    const isFirst = !this.#said[what]
    this.#said[what] = true
    return isFirst
  }
}

/** One message's calls. Those of different messages never meet in one body. */
export class Gather {
  readonly #message: Gathering
  #open: Body[] = []

  constructor(message: Gathering) {
    this.#message = message
  }

  /** Sends the call with others at the end of this turn, or as soon as there are `most`. It counts at its route from now on. */
  add(parts: RouteParts, call: Gathered, most: number, now: () => number): void {
    const { asked, limits } = call
    const { length } = asked.body
    parts.limits.enter(asked.caller)
    let body = this.#open.find(each => each.parts === parts && isAlike(each.calls[0]!.limits, limits))
    if (body !== undefined && !fits(body, asked)) {
      this.#close(body, now)
      body = undefined
    }
    if (body === undefined) {
      if (this.#open.length === 0)
        setImmediate(() => {
          for (const each of [...this.#open]) this.#close(each, now)
        })
      body = { parts, calls: [], bytes: 0 }
      this.#open.push(body)
    }
    body.calls.push(call)
    body.bytes += length
    if (body.calls.length >= most) this.#close(body, now)
  }

  #close(body: Body, now: () => number): void {
    this.#open = this.#open.filter(each => each !== body)
    if (body.calls.length === 1) sendAlone(body)
    else this.#send(body, now)
  }

  #send({ parts, calls }: Body, now: () => number): void {
    const { client, limits, batching } = parts
    const { asked, limits: first } = calls[0]!
    const { caller } = asked
    const holder = this.#message.hold()
    const bounds = {
      timeout: first.timeout,
      holdBack: Infinity,
      maxBytes: MOST_REPLIED,
      departure: null,
      holder,
    }
    const { departure } = this.#message
    const begun = (): void => {
      calls.forEach((call, i) => {
        call.begun(i === 0)
      })
    }
    // One request, so one parent: that of a call which is recorded, where one is.
    const told = calls.map(call => call.asked.traceparent)
    const traceparent = told.find(each => each?.endsWith('01') === true) ?? told[0] ?? null
    // A long body, which is not joined with others, is above MOST_SENT by itself.
    const text = `[${calls.map(call => call.asked.body as Raw).join(',')}]`
    client.post(text, bounds, { caller, isCounted: true, begun, departure, traceparent }, exchange => {
      for (const call of calls) limits.leave(call.asked.caller)
      const { exchanges, refusal } = shareOut(
        exchange,
        calls.map(call => call.asked),
      )
      if (refusal !== null) batching.refuse(caller, now())
      else if (exchange.kind === 'whole') batching.learn(exchange.body.length, calls.length, caller)
      else if (exchange.kind === 'broken' && exchanges[0] !== exchange)
        batching.learn(MOST_REPLIED, calls.length, caller)
      if (exchange.kind === 'whole') holder.giveBack(exchange.body.length)
      const outcome = new OneBody()
      calls.forEach((call, i) => {
        call.done(held(exchanges[i]!, call), outcome)
      })
    })
  }
}

function sendAlone({ parts, calls: [call] }: Body): void {
  const { asked, limits, begun, done } = call!
  const { caller, departure, traceparent } = asked
  const sender = {
    caller,
    traceparent,
    isCounted: true,
    begun: (): void => {
      begun(true)
    },
    departure,
  } as const
  parts.client.post(asked.body, limits, sender, exchange => {
    parts.limits.leave(caller)
    done(exchange, null)
  })
}

function isAlike(a: ExchangeLimits, b: ExchangeLimits): boolean {
  return a.timeout === b.timeout
}

/** Whether the body stays short enough, and no other call in it has the same id. */
function fits({ calls, bytes }: Body, { id, body }: Asked): boolean {
  return bytes + body.length <= MOST_SENT && calls.every(each => each.asked.id !== id)
}

/** The call's part of the reply, which it holds by itself from now on. */
function held(exchange: Exchange, { limits }: Gathered): Exchange {
  if (exchange.kind !== 'whole') return exchange
  const noRoom = limits.holder?.take(exchange.body.length) ?? null
  return noRoom === null ? exchange : { kind: 'broken', how: noRoom, sent: true }
}
