/** One process's side of shared buckets: takes what it may by itself, and asks the store for the rest, many questions at a time. */
import type { Clock } from '../ports/clock.ts'
import type { LimitAnswer, LimitQuestion, LimitStore } from '../ports/limit-store.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { BoundedCache } from './bounded-cache.ts'
import type { Buckets } from './buckets.ts'
import { Outages } from './outages.ts'
import type { OutageOptions } from './outages.ts'
import { handOut, newEntry, questionOf, serveWaiting } from './part.ts'
import type { Entry, Part, Taken, Waiting } from './part.ts'
import type { Occasion, View } from './share.ts'

/** Buckets that a process remembers; one that it forgets is asked for anew. */
const REMEMBERED = 300_000

/** What it is made of. What a reload may change is read each time. */
export interface AskingOptions extends OutageOptions {
  readonly store: LimitStore
  readonly clock: Clock
  /** Milliseconds between two reports. */
  readonly every: number
  /** Calls `f` once those that came together have been heard: their questions share a message. */
  readonly soon?: (f: () => void) => void
}

/** Takes from shared buckets. Times are milliseconds of its clock. */
export class Asking implements Buckets {
  readonly #options: AskingOptions
  readonly #entries = new BoundedCache<Entry>(REMEMBERED)
  /** Those with something to report, forgotten ones too. */
  readonly #unreported = new Set<Entry>()
  /** Those with calls that wait for a question which is not under way. */
  readonly #toAsk = new Set<Entry>()
  readonly #outages: Outages
  #stop: () => void

  constructor(options: AskingOptions) {
    this.#options = options
    this.#outages = new Outages(options)
    this.#stop = options.clock.after(options.every, this.#tick)
  }

  /** Whether nobody can be asked. */
  get isAway(): boolean {
    return this.#outages.isAway
  }

  /** Its time, for those who take several parts at once. */
  now(): number {
    return this.#options.clock.monotonic()
  }

  /** Takes a part, or nothing of it. */
  take(part: Part, now = this.now()): MaybePromise<Taken> {
    const entry = this.#entryOf(part)
    const alone = this.#outages.alone
    if (alone !== null) {
      if (part.quota !== undefined) this.#unreported.add(entry)
      return entry.share.takeAlone(part.limit, part.units, now, alone)
    }
    // Who comes later does not pass those who wait.
    const taken = entry.waiting.length > 0 ? null : entry.share.take(part.limit, part.units, now)
    if (taken === null) return this.#ask(entry, part.units)
    if (taken === 0) this.#unreported.add(entry)
    return taken
  }

  /** Takes of so many units what there is: how many, or null where a quota cannot be read now. */
  takeSome(part: Part): MaybePromise<number | null> {
    const entry = this.#entryOf(part)
    const { share } = entry
    const { limit, units } = part
    const now = this.#options.clock.monotonic()
    this.#unreported.add(entry)
    const alone = this.#outages.alone
    if (alone !== null) return share.takeSomeAlone(limit, units, now, alone)
    if (entry.waiting.length > 0) return this.#ask(entry, units, true)
    const here = share.takeSome(limit, units, now)
    const isKnown = here < units && share.take(limit, units - here, now) !== null
    if (here === units || (isKnown && share.level(limit, now) < 1)) return here
    return this.#ask(entry, units - here, true).then(more =>
      more === null ? (here === 0 ? null : here) : here + more,
    )
  }

  /** Takes what another process may hold to spare of a quota. */
  takeSpare(part: Part, processes: number): number {
    return this.#entryOf(part).share.takeSpare(part.units, processes)
  }

  /** How often the store has lost what it had granted of a bucket. */
  renewals(part: Part): number {
    return this.#entryOf(part).renewals
  }

  /** Whether what is known here of a bucket is recent. */
  isFresh(part: Part): boolean {
    return this.#entryOf(part).share.isFresh(this.#options.clock.monotonic())
  }

  /** A bucket, for those who take from it through this process. */
  view(part: Part): View {
    const entry = this.#entryOf(part)
    const now = this.now()
    return entry.share.view(part.limit, now, this.#outages.alone)
  }

  /** Units that the store has left for everybody, now; null where a quota cannot be read. */
  async ask(part: Part): Promise<number | null> {
    const entry = this.#entryOf(part)
    if (!this.#outages.isAway && (await this.#ask(entry, 0)) === null) return null
    return this.level(part)
  }

  /** Puts back what was taken. */
  giveBack(part: Part): void {
    const entry = this.#entryOf(part)
    const now = this.now()
    const alone = this.#outages.alone
    if (alone === null) entry.share.giveBack(part.units)
    else entry.share.spendAlone(part.limit, -part.units, now, alone)
    this.#unreported.add(entry)
  }

  /** Takes a part whether or not there is as much; the store hears of it with the next report, or at once after a silence. */
  spend(part: Part): void {
    const entry = this.#entryOf(part)
    const { share, isAsking } = entry
    const now = this.now()
    const alone = this.#outages.alone
    if (alone !== null) share.spendAlone(part.limit, part.units, now, alone)
    else if (share.spend(part.units, now) && !isAsking) void this.#ask(entry, 0)
    this.#unreported.add(entry)
  }

  /** This process's part of what a bucket holds, as far as is known here. */
  own(part: Part): number {
    const { clock, processes } = this.#options
    return this.#entryOf(part).share.own(part.limit, clock.monotonic(), processes)
  }

  /** Units that a bucket holds, as far as is known here. */
  level(part: Part): number {
    const { share } = part.entry ?? this.#entries.get(part.key) ?? {}
    return share?.level(part.limit, this.now()) ?? part.limit.burst
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
    let entry = part.entry ?? this.#entries.get(part.key)
    if (entry === undefined) {
      entry = newEntry(part, this.#options, this.#outages)
      this.#entries.set(part.key, entry)
    }
    if (part.entry !== entry) part.entry = entry
    if (entry.part !== part) entry.part = part
    return entry
  }

  #ask(entry: Entry, units: number, isSome = false): Promise<Taken> {
    return new Promise(resolve => {
      entry.waiting.push({ units, isSome, resolve })
      if (!entry.isAsking) this.#askSoon(entry)
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
      ({ isAsking, share }) => !isAsking && (this.#outages.isAway || share.isDue(now)),
    )
    // Who has nothing to say still has to hear that the store is there again.
    if (due.length > 0 || this.#outages.isAway) void this.#send(due)
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
      // Those who kept their part do not come by here to find it: it is in use all the same.
      this.#entries.set(entry.part.key, entry)
      return questionOf(entry, asked[i]!, now, occasion)
    })
    try {
      const answers = await store.ask(questions)
      this.#outages.found(this.now())
      for (const [i, entry] of entries.entries()) this.#answered(entry, asked[i]!, answers[i] ?? null)
    } catch {
      this.#outages.lost(this.now())
      for (const [i, entry] of entries.entries()) this.#unanswered(entry, asked[i]!)
    }
  }

  #answered(entry: Entry, asked: readonly Waiting[], answer: LimitAnswer | null): void {
    if (answer === null) {
      entry.share.unanswered()
      for (const { resolve } of asked) resolve(null)
    } else handOut(entry, asked, answer, this.#options.clock.monotonic())
    this.#goOn(entry)
  }

  /** The store is away: those who wait get what this process may give. */
  #unanswered(entry: Entry, asked: readonly Waiting[]): void {
    const { share, part } = entry
    share.unanswered()
    const now = this.now()
    const alone = this.#outages.alone!
    for (const { units, isSome, resolve } of [...asked, ...entry.waiting.splice(0)])
      resolve(share[isSome ? 'takeSomeAlone' : 'takeAlone'](part.limit, units, now, alone))
    this.#goOn(entry)
  }

  #goOn(entry: Entry): void {
    entry.isAsking = false
    if (!this.#outages.isAway) serveWaiting(entry, this.#options.clock.monotonic())
    if (entry.share.isUnreported) this.#unreported.add(entry)
    if (entry.waiting.length > 0) this.#askSoon(entry)
  }

  #askSoon(entry: Entry): void {
    if (this.#toAsk.size === 0) (this.#options.soon ?? setImmediate)(this.#askAll)
    this.#toAsk.add(entry)
  }
}
