/** Where the holdings of several processes are counted: each asks before it takes. */
import type { MaybePromise } from './maybe-promise.ts'

/** What one process holds under a key. */
export interface HeldCount {
  readonly key: string
  readonly held: number
}

/** What one process says of a key, and asks of it. A process has one question about a key in flight at a time. */
export interface HoldingQuestion extends HeldCount {
  /** Most that all processes may hold. */
  readonly limit: number
  /** How many are asked for now. */
  readonly want: number
}

/** What comes of a question. */
export interface HoldingAnswer {
  /** How many of those asked for are granted. */
  readonly granted: number
  /** What the other processes hold, and what those among them hold whose slots come before this process's. */
  readonly others: number
  readonly before: number
}

/** A key of which others have none left, and how many they want. */
export interface Recalled {
  readonly key: string
  readonly want: number
}

/** The counts of all processes, as one of them sees them. */
export interface HoldingStore {
  /** Answers in the order of the questions; null while not all processes have been heard. Rejects while the store is away. */
  hold(questions: readonly HoldingQuestion[]): MaybePromise<readonly (HoldingAnswer | null)[]>
}

/** One process, as the store sees it. */
export interface HoldingProcess {
  /** Ends what it keeps without using it, and says how many it holds of each key. */
  recall(recalled: readonly Recalled[]): Promise<readonly number[]>
}

/** The counts of all processes, for those of one machine. */
export interface HoldingsOfAll {
  /** Counts a process in at its place, with what it holds already; `instance` is what it alone is called. */
  join(
    slot: number,
    process: HoldingProcess,
    held?: readonly HeldCount[],
    instance?: string,
  ): HoldingStore & { leave(): void }
}
