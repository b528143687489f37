import type { Stall } from './clock.ts'

/** What the bystander's process has to know of the gateway. */
export interface Life {
  readonly port: number
  readonly path: string
  readonly solanaPath: string
  /** A block whose state every route still has. */
  readonly recentBlock: string
  readonly perSecond: number
  /** Whether it also subscribes to newHeads. */
  readonly heads: boolean
}

/** One call and what came of it. Times are milliseconds on the shared clock. */
export interface Sample {
  readonly phase: string
  readonly kind: 'evm' | 'solana'
  readonly method: string
  readonly at: number
  readonly took: number
  /** 0: no reply. */
  readonly status: number
  /** Whether it was the right answer. */
  readonly ok: boolean
  /** Of a refusal. */
  readonly reason: string
  /** The node that answered. */
  readonly route: string
  /** The reply, where it was not right. */
  readonly text: string
}

/** All that a bystander saw. */
export interface BystanderReport {
  readonly samples: readonly Sample[]
  /** Calls that had no answer when the wait for them ended. */
  readonly unanswered: number
  /** When its own event loop did not run. */
  readonly stalls: readonly Stall[]
  /** Calls and messages by method that have to be in its ledger, since it was born. */
  readonly metered: Readonly<Record<string, number>>
  /** The numbers of the blocks it was told of, in order. */
  readonly heads: readonly number[]
  /** The code with which its socket was closed by the other side. */
  readonly closed: number | null
}
