/**
 * What all processes of this machine hold, in the memory of one of them. A take that finds nothing left waits until everybody with a part has
 * said what it holds now, so that none is refused below the limit.
 */
import { orAfter } from '../net/or-after.ts'
import { systemClock } from '../ports/clock.ts'
import type { Clock } from '../ports/clock.ts'
import type {
  HeldCount,
  HoldingAnswer,
  HoldingProcess,
  HoldingQuestion,
  HoldingStore,
} from '../ports/holding-store.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'

/** Milliseconds that a process gets to say what it holds; a silent one counts with what it said last. */
const PATIENCE = 200
/** Milliseconds after a start in which the processes of before are waited for. */
const GATHERING = 1_000

/** What it may know. */
export interface HeldCountsOptions {
  /** Processes that come: until so many have, or for a second, nothing is decided. */
  readonly processes?: number
  readonly clock?: Pick<Clock, 'monotonic'>
}

/** A process that is there: what it holds counts until it leaves. */
class Member implements HoldingStore {
  readonly slot: number
  readonly process: HoldingProcess
  isGone = false
  readonly #counts: HeldCounts

  constructor(counts: HeldCounts, slot: number, process: HoldingProcess) {
    this.#counts = counts
    this.slot = slot
    this.process = process
  }

  hold(questions: readonly HoldingQuestion[]): MaybePromise<readonly (HoldingAnswer | null)[]> {
    const answers = questions.map(question => this.#counts.answer(this, question))
    return answers.some(answer => answer instanceof Promise)
      ? Promise.all(answers.map(async answer => answer))
      : (answers as (HoldingAnswer | null)[])
  }

  /** Its counts end at once. */
  leave(): void {
    this.isGone = true
    this.#counts.leave(this)
  }
}

/** What all processes hold of one key. */
class HeldKey {
  readonly key: string
  /** Asks all who have a part what they hold now; null while that is not under way. */
  round: Promise<void> | null = null
  readonly #held = new Map<Member, number>()

  constructor(key: string) {
    this.key = key
  }

  get isEmpty(): boolean {
    return this.#held.size === 0 && this.round === null
  }

  /** Whether a process has a part. */
  has(member: Member): boolean {
    return this.#held.has(member)
  }

  /** What a process says that it has. */
  set(member: Member, held: number): void {
    if (held <= 0) this.#held.delete(member)
    else this.#held.set(member, held)
  }

  /** How many nobody holds. */
  left(limit: number): number {
    return limit - this.before(Infinity)
  }

  /** Gives a process so many, of which it has not heard yet. */
  grant(member: Member, granted: number): void {
    this.set(member, this.#of(member) + granted)
  }

  /** What the others hold. */
  others(member: Member): number {
    return this.before(Infinity) - this.#of(member)
  }

  /** What is held in the slots before this one. */
  before(slot: number): number {
    let sum = 0
    for (const [member, held] of this.#held) if (member.slot < slot) sum += held
    return sum
  }

  #of(member: Member): number {
    return this.#held.get(member) ?? 0
  }
}

/** Keys of which somebody found nothing left, and how many were wanted. */
interface Round {
  readonly wanted: Map<HeldKey, number>
  readonly over: Promise<void>
}

/** Counts by key and process. */
export class HeldCounts {
  readonly #keys = new Map<string, HeldKey>()
  readonly #members = new Set<Member>()
  readonly #processes: number
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #startedAt: number
  #isGathering: boolean
  /** What is asked next; null where nobody found nothing left. */
  #next: Round | null = null

  constructor({ processes = 0, clock = systemClock }: HeldCountsOptions = {}) {
    this.#processes = processes
    this.#clock = clock
    this.#startedAt = clock.monotonic()
    this.#isGathering = processes > 0
  }

  /** Counts a process in, with what it holds already. */
  join(
    slot: number,
    process: HoldingProcess,
    held: readonly HeldCount[] = [],
  ): Pick<Member, 'hold' | 'leave'> {
    const member = new Member(this, slot, process)
    this.#members.add(member)
    for (const { key, held: count } of held) this.#key(key).set(member, count)
    if (this.#members.size >= this.#processes) this.#isGathering = false
    return member
  }

  /** All that are held under a key. */
  held(key: string): number {
    return this.#keys.get(key)?.before(Infinity) ?? 0
  }

  /** Answers a question of a process. */
  answer(member: Member, question: HoldingQuestion): MaybePromise<HoldingAnswer | null> {
    if (member.isGone) return null
    const { key, limit, held, want } = question
    const counted = this.#key(key)
    counted.set(member, held)
    if (this.#isGathering && this.#clock.monotonic() - this.#startedAt < GATHERING) return null
    if (want > 0 && (counted.round !== null || counted.left(limit) < want))
      return this.#beyond(counted, member, question)
    return this.#give(counted, member, want)
  }

  /** Forgets a process. */
  leave(member: Member): void {
    this.#members.delete(member)
    for (const counted of this.#keys.values()) {
      counted.set(member, 0)
      this.#forgetEmpty(counted)
    }
  }

  #key(key: string): HeldKey {
    let counted = this.#keys.get(key)
    if (counted === undefined) this.#keys.set(key, (counted = new HeldKey(key)))
    return counted
  }

  #forgetEmpty(counted: HeldKey): void {
    if (counted.isEmpty && this.#keys.get(counted.key) === counted) this.#keys.delete(counted.key)
  }

  #give(counted: HeldKey, member: Member, granted: number): HoldingAnswer {
    this.#keys.set(counted.key, counted)
    counted.grant(member, granted)
    this.#forgetEmpty(counted)
    return { granted, others: counted.others(member), before: counted.before(member.slot) }
  }

  /** Waits for a round in which everybody is asked after the question came. */
  async #beyond(
    counted: HeldKey,
    member: Member,
    { limit, want }: HoldingQuestion,
  ): Promise<HoldingAnswer | null> {
    if (counted.round !== null && !this.#isNext(counted)) await counted.round
    if (counted.round !== null || counted.left(limit) < want) {
      const round = this.#recall(counted, want)
      counted.round ??= round
      await round
    }
    if (member.isGone) return null
    return this.#give(counted, member, Math.max(0, Math.min(want, counted.left(limit))))
  }

  /** Resolves when everybody who has a part has said what they hold. Keys that run out in one turn share the messages. */
  #recall(counted: HeldKey, want: number): Promise<void> {
    const { wanted, over } = (this.#next ??= this.#begin())
    wanted.set(counted, (wanted.get(counted) ?? 0) + want)
    return over
  }

  /** Whether everybody is going to be asked of it. */
  #isNext(counted: HeldKey): boolean {
    return this.#next?.wanted.has(counted) ?? false
  }

  #begin(): Round {
    const wanted: Round['wanted'] = new Map()
    // Grants that were made before go out before.
    const over = new Promise(setImmediate).then(async () => {
      this.#next = null
      await Promise.all([...this.#members].map(async member => this.#ask(member, wanted)))
      for (const counted of wanted.keys()) counted.round = null
    })
    return { wanted, over }
  }

  async #ask(member: Member, wanted: Round['wanted']): Promise<void> {
    const asked = [...wanted].filter(([counted]) => counted.has(member))
    if (asked.length === 0) return
    let isLate = false
    const said = member.process.recall(asked.map(([{ key }, want]) => ({ key, want }))).then(
      held => {
        // What comes late does not know what was granted since.
        if (isLate || member.isGone) return
        for (const [i, count] of held.entries()) asked[i]?.[0].set(member, count)
      },
      // Whoever is lost leaves.
      () => undefined,
    )
    isLate = !(await orAfter(said, PATIENCE))
  }
}
