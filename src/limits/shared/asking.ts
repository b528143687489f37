/** One process's side of shared buckets: takes what it may by itself, and asks the store for the rest, many questions at a time. */
import type { Clock } from '../../ports/clock.ts'
import type { LimitAnswer, LimitQuestion, LimitStore, QuotaOf } from '../../ports/limit-store.ts'
import type { RateLimit } from '../../ports/limits.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { BoundedCache } from '../bounded-cache.ts'
import { Allowance } from './allowance.ts'
import { Reserve } from './reserve.ts'
import type { Occasion, Share } from './share.ts'

/** Buckets that a process remembers; one that it forgets is asked for anew. */
const REMEMBERED = 300_000

/** What a call takes from one bucket. */
export interface Part {
  readonly key: string
  readonly limit: RateLimit
  readonly units: number
  readonly quota?: QuotaOf
}

/** How long a call has to wait, in milliseconds: 0 where it has what it takes, Infinity where nothing comes back; null where a quota cannot be read now. */
export type Taken = number | null

/** A call that waits for an answer. */
interface Waiting {
  readonly units: number
  readonly resolve: (taken: Taken) => void
}

/** A bucket that this process takes from. */
interface Entry {
  readonly share: Share
  /** As its last call had it. */
  part: Part
  waiting: Waiting[]
  isAsking: boolean
}

/** What it is made of. */
export interface AskingOptions {
  readonly store: LimitStore
  readonly clock: Clock
  /** Milliseconds between two reports. */
  readonly every: number
  /** Processes that may take from the same buckets. */
  readonly processes: number
  /** Calls `f` once those that came together have been heard: their questions share a message. */
  readonly soon?: (f: () => void) => void
}

/** Takes from shared buckets. Times are milliseconds of its clock. */
export class Asking {
  readonly #options: AskingOptions
  readonly #entries = new BoundedCache<Entry>(REMEMBERED)
  /** Those with something to report, forgotten ones too. */
  readonly #unreported = new Set<Entry>()
  /** Those with calls that wait for a question which is not under way. */
  readonly #toAsk = new Set<Entry>()
  #isAway = false
  #stop: () => void

  constructor(options: AskingOptions) {
    this.#options = options
    this.#stop = options.clock.after(options.every, this.#tick)
  }

  /** Whether nobody can be asked. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Takes a part, or nothing of it. */
  take(part: Part): MaybePromise<Taken> {
    const entry = this.#entryOf(part)
    const now = this.#options.clock.monotonic()
    if (this.#isAway) {
      const wait = entry.share.takeAlone(part.limit, part.units, now, this.#options.processes)
      if (part.quota !== undefined) this.#unreported.add(entry)
      return wait
    }
    // Who comes later does not pass those who wait.
    const taken = entry.waiting.length > 0 ? null : entry.share.take(part.limit, part.units, now)
    if (taken === null) return this.#ask(entry, part.units)
    if (taken === 0) this.#unreported.add(entry)
    return taken
  }

  /** Units that the store has left for everybody, now; null where a quota cannot be read. */
  async ask(part: Part): Promise<number | null> {
    const entry = this.#entryOf(part)
    if (!this.#isAway && (await this.#ask(entry, 0)) === null) return null
    return this.level(part)
  }

  /** Puts back what was taken. */
  giveBack(part: Part): void {
    const entry = this.#entryOf(part)
    entry.share.giveBack(part.units)
    this.#unreported.add(entry)
  }

  /** Takes a part whether or not there is as much; the store hears of it with the next report, or at once after a silence. */
  spend(part: Part): void {
    const entry = this.#entryOf(part)
    const isUnheard = entry.share.spend(part.units, this.#options.clock.monotonic())
    this.#unreported.add(entry)
    if (isUnheard && !this.#isAway && !entry.isAsking) void this.#ask(entry, 0)
  }

  /** This process's part of what a bucket holds, as far as is known here. */
  own(part: Part): number {
    const { clock, processes } = this.#options
    return this.#entryOf(part).share.own(part.limit, clock.monotonic(), processes)
  }

  /** Units that a bucket holds, as far as is known here. */
  level(part: Part): number {
    const now = this.#options.clock.monotonic()
    return this.#entries.get(part.key)?.share.level(part.limit, now) ?? part.limit.burst
  }

  /** The store is another one from now on: what the one before has granted is forgotten. */
  renewed(): void {
    for (const { share } of this.#unreported) share.renewed()
  }

  /** Reports everything, gives back what is held, as far as the store takes it, and stops: no call comes any more. */
  async close(): Promise<void> {
    this.#stop()
    await this.#send(
      [...this.#unreported].filter(({ isAsking }) => !isAsking),
      'end',
    )
  }

  #entryOf(part: Part): Entry {
    let entry = this.#entries.get(part.key)
    if (entry === undefined) {
      const { every } = this.#options
      const share = part.quota === undefined ? new Allowance(part.limit, every) : new Reserve(every)
      entry = { share, part, waiting: [], isAsking: false }
      this.#entries.set(part.key, entry)
    }
    entry.part = part
    return entry
  }

  #ask(entry: Entry, units: number): Promise<Taken> {
    return new Promise(resolve => {
      entry.waiting.push({ units, resolve })
      if (entry.isAsking) return
      this.#askSoon(entry)
    })
  }

  readonly #askAll = (): void => {
    const entries = [...this.#toAsk]
    this.#toAsk.clear()
    void this.#send(entries)
  }

  /** Reports what is due. */
  readonly #tick = (): void => {
    const { clock, every } = this.#options
    const now = clock.monotonic()
    const due = [...this.#unreported].filter(
      ({ isAsking, share }) => !isAsking && (this.#isAway || share.isDue(now)),
    )
    // Who has nothing to say still has to hear that the store is there again.
    if (due.length > 0 || this.#isAway) void this.#send(due)
    this.#stop = clock.after(every, this.#tick)
  }

  /** Asks one question for each. */
  async #send(entries: readonly Entry[], occasion: Occasion = 'report'): Promise<void> {
    const { store, clock } = this.#options
    const now = clock.monotonic()
    const asked = entries.map(entry => entry.waiting.splice(0))
    const questions = entries.map((entry, i): LimitQuestion => {
      entry.isAsking = true
      this.#unreported.delete(entry)
      const { key, limit, quota } = entry.part
      const calls = asked[i]!
      const want = calls.reduce((sum, { units }) => sum + units, 0)
      return {
        key,
        limit,
        ...entry.share.report(now, calls.length > 0 ? 'calls' : occasion),
        want,
        ...(quota && { quota }),
      }
    })
    try {
      const answers = await store.ask(questions)
      this.#isAway = false
      for (const [i, entry] of entries.entries()) this.#answered(entry, asked[i]!, answers[i] ?? null)
    } catch {
      this.#isAway = true
      for (const [i, entry] of entries.entries()) this.#unanswered(entry, asked[i]!)
    }
  }

  #answered(entry: Entry, asked: readonly Waiting[], answer: LimitAnswer | null): void {
    const { share, part } = entry
    if (answer === null) {
      share.unanswered()
      for (const { resolve } of asked) resolve(null)
    } else {
      let left = answer.granted
      const refused: Waiting[] = []
      for (const call of asked) {
        if (call.units > left) {
          refused.push(call)
          continue
        }
        left -= call.units
        call.resolve(0)
      }
      share.answered(answer, part.limit, this.#options.clock.monotonic(), asked.length > 0, left)
      for (const { units, resolve } of refused) resolve(share.wait(part.limit, units))
    }
    this.#goOn(entry)
  }

  /** The store is away: those who wait get what this process may give. */
  #unanswered(entry: Entry, asked: readonly Waiting[]): void {
    const { share, part } = entry
    share.unanswered()
    const now = this.#options.clock.monotonic()
    for (const { units, resolve } of [...asked, ...entry.waiting.splice(0)])
      resolve(share.takeAlone(part.limit, units, now, this.#options.processes))
    this.#goOn(entry)
  }

  #goOn(entry: Entry): void {
    entry.isAsking = false
    if (entry.share.isUnreported) this.#unreported.add(entry)
    if (entry.waiting.length > 0) this.#askSoon(entry)
  }

  #askSoon(entry: Entry): void {
    if (this.#toAsk.size === 0) (this.#options.soon ?? setImmediate)(this.#askAll)
    this.#toAsk.add(entry)
  }
}
