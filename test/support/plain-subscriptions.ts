/** The port Subscriptions as plainly as it can be: in this process, with a node that says what the test says. */
import type { Raw } from '../../src/jsonrpc/raw.ts'
import type { Reply } from '../../src/jsonrpc/message.ts'
import type {
  Listener,
  Share,
  SubscribeCall,
  Subscriber,
  Subscriptions,
} from '../../src/ports/subscriptions.ts'
import { refuse } from '../../src/refusal/refusal.ts'
import type { Refusal } from '../../src/refusal/refusal.ts'
import type { MethodRow, Network } from '../../src/snapshot/types.ts'

interface Joined {
  readonly listener: Listener
  /** What came before the client knew its id; null from then on. */
  waiting: (() => void)[] | null
}

export class PlainSubscriptions implements Subscriptions {
  /** The error that the node answers the next calls with; null takes them. */
  error: (Reply & { kind: 'error' }) | null = null
  readonly #shared = new Map<string, { readonly network: string; readonly joined: Set<Joined> }>()
  readonly #held = new Map<string, number>()

  join(
    { slug }: Pick<Network, 'slug'>,
    _: MethodRow,
    { method, params }: SubscribeCall,
    listener: Listener,
    { holder, limit }: Subscriber,
  ): Promise<Share | (Reply & { kind: 'error' }) | Refusal> {
    const held = this.#held.get(holder) ?? 0
    if (held >= limit) return Promise.resolve(refuse('too_many_subscriptions', undefined, { limit }))
    if (this.error !== null) return Promise.resolve(this.error)
    const key = `${slug} ${method} ${JSON.stringify(JSON.parse(params))}`
    const shared = this.#shared.get(key) ?? { network: slug, joined: new Set<Joined>() }
    this.#shared.set(key, shared)
    const member: Joined = { listener, waiting: [] }
    shared.joined.add(member)
    this.#held.set(holder, held + 1)
    return Promise.resolve({
      start: () => {
        const waiting = member.waiting ?? []
        member.waiting = null
        for (const each of waiting) each()
      },
      leave: () => {
        if (shared.joined.delete(member)) this.#held.set(holder, (this.#held.get(holder) ?? 1) - 1)
      },
    })
  }

  part(holder: string, limit: number): number {
    return (this.#held.get(holder) ?? 0) <= limit ? Infinity : limit
  }

  /** A message of the node to every subscription. */
  push(result: Raw): void {
    for (const { joined } of this.#shared.values())
      for (const { listener, waiting } of joined) {
        const hear = () => {
          listener.message({ result, height: null, route: 'a', last: false })
        }
        if (waiting === null) hear()
        else waiting.push(hear)
      }
  }

  count(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { network } of this.#shared.values()) counts.set(network, (counts.get(network) ?? 0) + 1)
    return counts
  }

  whyNoSocket(): null {
    return null
  }

  reconcile(): void {
    // Its node is not named by a snapshot.
  }

  close(): void {
    this.#shared.clear()
  }
}
