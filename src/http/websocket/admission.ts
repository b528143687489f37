/** Whether the key that opened a WebSocket still does. */
import type { Gateway } from '../../call/gateway.ts'
import type { Visitor } from '../../call/caller.ts'
import { isRefusal } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { ClientSession } from '../../subscriptions/client/session.ts'

/** What is known of the client since the upgrade; its network may go. */
export type SocketVisitor = Omit<Visitor, 'session'>

/** Asked at each message, and looks the key up only where keys, plans or the configuration have changed. */
export class Admission {
  readonly #gateway: Gateway
  readonly #visitor: SocketVisitor
  readonly #session: ClientSession
  /** The gateway's epoch when the key was last looked up. */
  #epoch = -1
  #refusal: Refusal | 'no network' | null = null

  constructor(gateway: Gateway, visitor: SocketVisitor, session: ClientSession) {
    this.#gateway = gateway
    this.#visitor = visitor
    this.#session = session
  }

  /** Why the socket is to be closed, and null while it may go on; brings the session's caller up to date. */
  get refusal(): Refusal | 'no network' | null {
    const { epoch } = this.#gateway
    if (epoch !== this.#epoch) {
      this.#epoch = epoch
      this.#refusal = this.#lookUp()
    }
    return this.#refusal
  }

  #lookUp(): Refusal | 'no network' | null {
    const network = this.#gateway.snapshot.networks[this.#visitor.network.slug]
    if (network === undefined) return 'no network'
    const caller = this.#gateway.readmit({ ...this.#visitor, network, session: this.#session })
    this.#session.caller = isRefusal(caller) ? null : caller
    return isRefusal(caller) ? caller : null
  }
}
