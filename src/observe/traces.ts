/** What one customer's calls do, for as long as somebody watches (`tollgate trace`). Nothing of it goes into the log. */
import type { CallLine } from './call-line.ts'

/** Whose calls: an account's, or an endpoint's. */
export interface TraceTarget {
  readonly account?: string
  readonly endpoint?: string
}

/** Lines since they were last taken, and how many more there were. */
export interface Traced {
  readonly lines: readonly CallLine[]
  readonly dropped: number
}

/** Lines of a trace that wait to be taken at most. */
const WAITING = 2_000
/** Milliseconds after which a trace is over whose lines nobody takes. */
const LEASE = 5_000

interface Trace {
  readonly target: TraceTarget
  lines: CallLine[]
  dropped: number
  readonly lease: NodeJS.Timeout
}

/** The traces of one process. */
export class Traces {
  readonly #open = new Map<string, Trace>()

  /** Whether anybody watches anything. */
  get isOn(): boolean {
    return this.#open.size > 0
  }

  /** Takes what has come to a trace since; the first time opens it. It ends when it is not asked for any more. */
  take(id: string, target: TraceTarget): Traced {
    let trace = this.#open.get(id)
    if (trace === undefined) {
      const lease = setTimeout(() => this.#open.delete(id), LEASE).unref()
      this.#open.set(id, (trace = { target, lines: [], dropped: 0, lease }))
    }
    trace.lease.refresh()
    const { lines, dropped } = trace
    trace.lines = []
    trace.dropped = 0
    return { lines, dropped }
  }

  /** Gives a line to those who watch its owner; it is made only for them. */
  add(
    owner: { readonly account: string | null; readonly endpoint: string | null },
    line: () => CallLine,
  ): void {
    let made: CallLine | null = null
    for (const trace of this.#open.values()) {
      const { account, endpoint } = trace.target
      if (account !== undefined && account !== owner.account) continue
      if (endpoint !== undefined && endpoint !== owner.endpoint) continue
      if (trace.lines.length < WAITING) trace.lines.push((made ??= line()))
      else trace.dropped += 1
    }
  }

  /** Ends all. */
  close(): void {
    for (const { lease } of this.#open.values()) clearTimeout(lease)
    this.#open.clear()
  }
}
