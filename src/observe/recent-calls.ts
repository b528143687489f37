/** The last calls that failed, by whose they are: what a customer's mail about one is answered from where there is no access log. */
import { BoundedCache } from '../limits/bounded-cache.ts'
import type { Observation, RefusedMessage } from '../ports/observer.ts'
import { callLine, refusalLine } from './call-line.ts'
import type { CallLine } from './call-line.ts'

/** Calls of an account that are kept, and accounts: a flood of one pushes out nothing of another. */
const EACH = 100
const ACCOUNTS = 200

type Seen = Observation | RefusedMessage

/** The newest of one account, in a ring. */
interface Ring {
  readonly seen: Seen[]
  readonly at: number[]
  next: number
}

/** Keeps them in memory. */
export class RecentCalls {
  readonly #rings = new BoundedCache<Ring>(ACCOUNTS)

  add(seen: Seen, now: number): void {
    // Those without a key share one.
    const whose = seen.account ?? ''
    let ring = this.#rings.get(whose)
    if (ring === undefined) this.#rings.set(whose, (ring = { seen: [], at: [], next: 0 }))
    ring.seen[ring.next] = seen
    ring.at[ring.next] = now
    ring.next = (ring.next + 1) % EACH
  }

  /** What is kept of a request: a line for each of its calls. */
  find(requestId: string): CallLine[] {
    const lines: CallLine[] = []
    for (const { seen, at } of this.#rings.values())
      for (const [i, one] of seen.entries())
        if (one.requestId === requestId)
          lines.push('totalMs' in one ? callLine(one, at[i]!) : refusalLine(one, at[i]!))
    return lines
  }
}
