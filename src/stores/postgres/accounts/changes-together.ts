/** Changes of accounts that wait for each other, as one: what the work of one throws takes back that one alone. */
import type { Capture, Outcome } from './capture.ts'

/** One of them, and who waits for it. */
export interface Change {
  readonly work: () => unknown
  /** Called in the turn in which the change is known here. */
  readonly committed: () => void
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Several of them, in their order. */
export class ChangesTogether {
  readonly #changes: readonly Change[]
  readonly #capture: Pick<Capture, 'apart'>
  /** Of the last attempt. */
  #outcomes: readonly Outcome[] = []

  constructor(changes: readonly Change[], capture: Pick<Capture, 'apart'>) {
    this.#changes = changes
    this.#capture = capture
  }

  /** The work of all; may be carried out several times. */
  readonly work = (): void => {
    this.#outcomes = this.#changes.map(({ work }) => this.#capture.apart(work))
  }

  readonly committed = (): void => {
    for (const [i, { committed }] of this.#changes.entries()) if ('result' in this.#outcomes[i]!) committed()
  }

  /** Tells each what became of it, once all is committed. */
  settle(): void {
    for (const [i, { resolve, reject }] of this.#changes.entries()) {
      const outcome = this.#outcomes[i]!
      if ('result' in outcome) resolve(outcome.result)
      else reject(outcome.error)
    }
  }
}
