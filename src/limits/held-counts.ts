/**
 * What all processes of this machine hold, in the memory of one of them. A take that finds nothing left waits until everybody with a part has
 * given up its room and said what it holds now, so that none is refused below the limit.
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
import { HeldKey } from './held-key.ts'

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

/** Keys of which somebody found nothing left, and how many were wanted. */
interface Round {
  readonly wanted: Map<HeldKey<Member>, number>
  readonly over: Promise<void>
}

/** Counts by key and process. */
export class HeldCounts {
  readonly #keys = new Map<string, HeldKey<Member>>()
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
    for (const { key, held: count } of held) this.#key(key).set(member, slot, count, 0)
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
    const { key, limit, held, room, want } = question
    const counted = this.#key(key)
    counted.set(member, member.slot, held, room)
    if (this.#isGathering && this.#clock.monotonic() - this.#startedAt < GATHERING) return null
    if (want > 0 && (counted.round !== null || counted.left(limit) < want))
      return this.#beyond(counted, member, question)
    return this.#give(counted, member, limit, want, true)
  }

  /** Forgets a process. */
  leave(member: Member): void {
    this.#members.delete(member)
    for (const counted of this.#keys.values()) {
      counted.set(member, member.slot, 0, 0)
      this.#forgetEmpty(counted)
    }
  }

  #key(key: string): HeldKey<Member> {
    let counted = this.#keys.get(key)
    if (counted === undefined) this.#keys.set(key, (counted = new HeldKey(key)))
    return counted
  }

  #forgetEmpty(counted: HeldKey<Member>): void {
    if (counted.isEmpty && this.#keys.get(counted.key) === counted) this.#keys.delete(counted.key)
  }

  #give(
    counted: HeldKey<Member>,
    member: Member,
    limit: number,
    granted: number,
    withRoom: boolean,
  ): HoldingAnswer {
    this.#keys.set(counted.key, counted)
    counted.grant(member, member.slot, granted)
    const room = withRoom ? counted.give(member, limit, this.#members.size) : 0
    this.#forgetEmpty(counted)
    return { granted, room, others: counted.others(member), before: counted.before(member.slot) }
  }

  /** Waits for a round in which everybody is asked after the question came. */
  async #beyond(
    counted: HeldKey<Member>,
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
    // Room that the first gets would be missing to those who waited with it.
    return this.#give(counted, member, limit, Math.max(0, Math.min(want, counted.left(limit))), false)
  }

  /** Resolves when everybody who has a part has said what they hold. Keys that run out in one turn share the messages. */
  #recall(counted: HeldKey<Member>, want: number): Promise<void> {
    const { wanted, over } = (this.#next ??= this.#begin())
    wanted.set(counted, (wanted.get(counted) ?? 0) + want)
    return over
  }

  /** Whether everybody is going to be asked of it. */
  #isNext(counted: HeldKey<Member>): boolean {
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
        for (const [i, count] of held.entries()) asked[i]?.[0].set(member, member.slot, count, 0)
      },
      // Whoever is lost leaves.
      () => undefined,
    )
    isLate = !(await orAfter(said, PATIENCE))
  }
}
