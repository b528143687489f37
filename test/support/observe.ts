import type { Access, Usage } from './access.ts'
import type { NodeRequest, ScriptedNode } from './scripted-node.ts'

/** What an action left behind besides its own value. */
export interface Observed<T> {
  readonly value: T
  /** Units charged. */
  readonly requests: number
  /** Calls charged. */
  readonly calls: number
  /** What arrived at the node, housekeeping apart. */
  readonly sent: readonly NodeRequest[]
}

/** Runs an action and tells what it cost an endpoint and what it sent to a node; `through` is another key of the account that may ask. */
export async function observe<T>(
  access: Access,
  node: ScriptedNode,
  action: () => Promise<T>,
  through: Access = access,
): Promise<Observed<T>> {
  const before = await access.usage(through)
  const sentBefore = node.calls.length
  const value = await action()
  const after = await access.usage(through)
  return {
    value,
    requests: after.requests - before.requests,
    calls: after.calls - before.calls,
    sent: node.calls.slice(sentBefore),
  }
}

/** How often usage may be asked in one go: the burst of the management rate, less one. */
const burst = 29

/** Watches hundreds of actions one after the other, with a new account whenever one's management rate is spent. */
export class Watch {
  readonly #create: () => Promise<Access>
  #access: Access | undefined
  #charged: Usage = { requests: 0, calls: 0 }
  #asked = 0

  constructor(create: () => Promise<Access>) {
    this.#create = create
  }

  /** As `observe` does, on an account of the watch's choice. */
  async observe<T>(node: ScriptedNode, action: (access: Access) => Promise<T>): Promise<Observed<T>> {
    if (this.#access === undefined || this.#asked === burst) {
      this.#access = await this.#create()
      this.#charged = { requests: 0, calls: 0 }
      this.#asked = 0
    }
    const before = this.#charged
    const sentBefore = node.calls.length
    const value = await action(this.#access)
    this.#asked++
    this.#charged = await this.#access.usage()
    return {
      value,
      requests: this.#charged.requests - before.requests,
      calls: this.#charged.calls - before.calls,
      sent: node.calls.slice(sentBefore),
    }
  }
}
