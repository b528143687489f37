/** One process's side of what is held on a machine: asks the store for each one that it takes. */
import type { Clock } from '../ports/clock.ts'
import type {
  HeldCount,
  HoldingAnswer,
  HoldingProcess,
  HoldingQuestion,
  HoldingStore,
  Recalled,
} from '../ports/holding-store.ts'
import type { Holdings } from '../ports/holdings.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'

/** Milliseconds after which everything is said again to a store that forgets who is silent. */
export const AGAIN = 3_000
/** Milliseconds for which the others are asked about after the last of a process's own ended, and count where nobody can be asked. */
const COUNTED = 60_000

/** What it is made of. */
export interface SharedHoldingsOptions {
  readonly store: HoldingStore
  readonly clock: Clock
  /** Milliseconds between two reports. */
  readonly every: number
  /** Milliseconds after which the store has to hear again of all that is held; absent where it remembers. */
  readonly again?: number
}

/** What one process holds under one key, and what it knows of the others. */
interface HeldPart {
  readonly key: string
  own: number
  /** What the others hold, as last heard, and those of them in the slots before. */
  others: number
  before: number
  /** When that was heard, and when the process last held or wanted one. */
  heardAt: number
  usedAt: number
  /** As it was last said here. */
  limit: number
  /** The limit that all together kept to when that was last known. */
  kept: number
  waiting: Waiting[]
  isAsking: boolean
}

/** Whoever waits for an answer: for one more, or, with 0, for what the others hold. */
interface Waiting {
  readonly want: 0 | 1
  readonly resolve: (isTaken: boolean) => void
}

/** Ends what a holder keeps without using it. */
type End = (holder: string, count: number) => Promise<unknown>

/** Counts of one process, each known to the store. */
export class SharedHoldings implements HoldingProcess {
  readonly #options: SharedHoldingsOptions
  readonly #entries = new Map<string, HeldPart>()
  /** Those that the store has not heard of as they are. */
  readonly #unreported = new Set<HeldPart>()
  readonly #toAsk = new Set<HeldPart>()
  /** By the ends of keys. */
  readonly #ends = new Map<string, End>()
  #isAway = false
  #allSaidAt: number
  #stop: () => void

  constructor(options: SharedHoldingsOptions) {
    this.#options = options
    this.#allSaidAt = options.clock.monotonic()
    this.#stop = options.clock.after(options.every, this.#tick)
  }

  /** What is held of one kind. */
  of(kind: string): Holdings {
    const end = `}:${kind}`
    const keyOf = (holder: string): string => `{${holder}${end}`
    return {
      take: (holder, limit) => this.#take(this.#entryOf(keyOf(holder), limit), limit),
      free: holder => {
        this.#free(keyOf(holder))
      },
      held: holder => {
        const entry = this.#entries.get(keyOf(holder))
        return entry === undefined ? 0 : entry.own + entry.others
      },
      part: (holder, limit) => this.#part(keyOf(holder), limit),
      whenShort: f => this.#ends.set(end, f),
    }
  }

  /** What is held here, for a store that knows nothing of it. */
  hello(): HeldCount[] {
    this.#isAway = false
    return [...this.#entries.values()]
      .filter(({ own }) => own > 0)
      .map(({ key, own }) => ({ key, held: own }))
  }

  async recall(recalled: readonly Recalled[]): Promise<readonly number[]> {
    await Promise.all(recalled.map(async ({ key, want }) => this.#endUnused(key, want)))
    // A grant that came just before is counted.
    await new Promise(setImmediate)
    return recalled.map(({ key }) => {
      const entry = this.#entries.get(key)
      if (entry === undefined) return 0
      this.#unreported.add(entry)
      return entry.own
    })
  }

  /** Reports nothing any more: what is held ends with the process. */
  close(): void {
    this.#stop()
  }

  #take(entry: HeldPart, limit: number): MaybePromise<boolean> {
    return this.#isAway ? takeAlone(entry, limit, this.#options.clock.monotonic()) : this.#ask(entry, 1)
  }

  #free(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined || entry.own === 0) return
    entry.own -= 1
    this.#unreported.add(entry)
  }

  #part(key: string, limit: number): MaybePromise<number> {
    const entry = this.#entries.get(key)
    if (entry === undefined || limit >= entry.kept) return Infinity
    if (this.#isAway) return stays(entry, limit)
    return this.#ask(entry, 0).then(() => stays(entry, limit))
  }

  #endUnused(key: string, want: number): Promise<unknown> | undefined {
    const middle = key.lastIndexOf('}:')
    return this.#ends.get(key.slice(middle))?.(key.slice(1, middle), want)
  }

  #entryOf(key: string, limit: number): HeldPart {
    let entry = this.#entries.get(key)
    if (entry === undefined) this.#entries.set(key, (entry = newPart(key, limit)))
    entry.limit = limit
    return entry
  }

  #ask(entry: HeldPart, want: 0 | 1): Promise<boolean> {
    return new Promise(resolve => {
      entry.waiting.push({ want, resolve })
      if (!entry.isAsking) this.#askSoon(entry)
    })
  }

  #askSoon(entry: HeldPart): void {
    if (this.#toAsk.size === 0) setImmediate(this.#askAll)
    this.#toAsk.add(entry)
  }

  /** A question that wants something may have to wait for other processes: it holds up no other. */
  readonly #askAll = (): void => {
    const entries = [...this.#toAsk].filter(({ isAsking }) => !isAsking)
    this.#toAsk.clear()
    const rest = entries.filter(entry => !wants(entry))
    for (const entry of entries) if (wants(entry)) void this.#send([entry])
    if (rest.length > 0) void this.#send(rest)
  }

  readonly #tick = (): void => {
    const { clock, every, again = Infinity } = this.#options
    const isTime = clock.monotonic() - this.#allSaidAt >= again
    if (isTime) this.#allSaidAt = clock.monotonic()
    if (this.#isAway) void this.#tryAgain()
    else if (isTime) this.#report(this.#entries.values())
    else if (this.#unreported.size > 0) this.#report(this.#unreported)
    this.#stop = clock.after(every, this.#tick)
  }

  #report(entries: Iterable<HeldPart>): void {
    const idle = [...entries].filter(entry => !entry.isAsking && !this.#toAsk.has(entry))
    if (idle.length > 0) void this.#send(idle)
  }

  /** A store that is there again hears of everything. */
  async #tryAgain(): Promise<void> {
    await this.#answersTo([])
    if (!this.#isAway) this.#report(this.#entries.values())
  }

  /** Asks one question for each. */
  async #send(entries: readonly HeldPart[]): Promise<void> {
    const asked = entries.map(entry => entry.waiting.splice(0))
    const { clock, again } = this.#options
    const now = clock.monotonic()
    const questions = entries.map((entry, i): HoldingQuestion => {
      const want = asked[i]!.reduce((sum, one) => sum + one.want, 0)
      const { key, own, limit } = entry
      if (own > 0 || want > 0) entry.usedAt = now
      entry.isAsking = true
      this.#unreported.delete(entry)
      return { key, limit, held: own, want }
    })
    const answers = await this.#answersTo(questions)
    for (const [i, entry] of entries.entries()) {
      entry.isAsking = false
      const answer = answers?.[i] ?? null
      if (answer === null) this.#unanswered(entry, asked[i]!)
      else this.#answered(entry, asked[i]!, answer, questions[i]!.limit)
      if (entry.waiting.length > 0) this.#askSoon(entry)
      else if (isOver(entry, again === undefined ? Infinity : now) && !this.#unreported.has(entry))
        this.#entries.delete(entry.key)
    }
  }

  /** Null while the store is away. */
  async #answersTo(questions: readonly HoldingQuestion[]): Promise<readonly (HoldingAnswer | null)[] | null> {
    try {
      const answers = await this.#options.store.hold(questions)
      this.#isAway = false
      return answers
    } catch {
      this.#isAway = true
      return null
    }
  }

  /** Nobody waits: those neither who came meanwhile, while the store is away. */
  #unanswered(entry: HeldPart, asked: readonly Waiting[]): void {
    const all = this.#isAway ? [...asked, ...entry.waiting.splice(0)] : asked
    const now = this.#options.clock.monotonic()
    for (const { want, resolve } of all) resolve(want === 0 || takeAlone(entry, entry.limit, now))
    this.#unreported.add(entry)
  }

  #answered(entry: HeldPart, asked: readonly Waiting[], answer: HoldingAnswer, limit: number): void {
    let { granted } = answer
    entry.own += granted
    entry.others = answer.others
    entry.heardAt = this.#options.clock.monotonic()
    entry.before = answer.before
    if (granted > 0) entry.kept = limit
    for (const { want, resolve } of asked) {
      resolve(want === 0 || granted > 0)
      granted -= want
    }
  }
}

/** Nothing is held yet. */
function newPart(key: string, limit: number): HeldPart {
  return {
    key,
    own: 0,
    others: 0,
    before: 0,
    heardAt: -Infinity,
    usedAt: -Infinity,
    limit,
    kept: limit,
    waiting: [],
    isAsking: false,
  }
}

/** Whether somebody waits for one more. */
function wants({ waiting }: HeldPart): boolean {
  return waiting.some(({ want }) => want > 0)
}

/** Whether there is nothing to remember, at this time of a store that may be away later. */
function isOver({ own, others, usedAt }: HeldPart, now: number): boolean {
  return own === 0 && (others === 0 || now - usedAt >= COUNTED)
}

/** Takes one where nobody can be asked: what is known of the others decides. */
function takeAlone(part: HeldPart, limit: number, now: number): boolean {
  // Who holds none hears of nobody's end, and would be refused for as long as that lasts.
  if (part.own === 0 && now - part.heardAt >= COUNTED) part.others = 0
  if (part.own + part.others >= limit) return false
  // What all together hold then is not known to be within any limit.
  part.kept = Infinity
  part.own += 1
  return true
}

/**
 * How many of a process's own may stay under a smaller limit; Infinity where all processes together keep to it. Where all know the same, their
 * parts are the limit.
 */
function stays(part: HeldPart, limit: number): number {
  const { own, others, before } = part
  const all = own + others
  if (all <= limit) {
    part.kept = limit
    return Infinity
  }
  return Math.floor(((before + own) * limit) / all) - Math.floor((before * limit) / all)
}
