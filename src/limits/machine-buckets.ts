/**
 * The buckets of all machines, for the processes of one: they take from this machine's part, which takes part in the buckets of all as one process.
 * So the store sees machines, and the processes of a machine stay exact among themselves.
 */
import type { Clock } from '../ports/clock.ts'
import type { LimitAnswer, LimitQuestion, LimitStore } from '../ports/limit-store.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { BoundedCache } from './bounded-cache.ts'
import type { Asking } from './asking.ts'
import { countActive } from './bucket.ts'
import type { Heard } from './bucket.ts'
import type { BucketsOfAll } from './buckets.ts'
import type { Part } from './part.ts'

/** Buckets of which it is remembered who takes from them. */
const KEPT = 300_000

/** Who takes from a bucket, and to whom what they hold was granted by a store that has lost it since. */
interface Takers {
  readonly heard: Heard
  /** The renewal of which each process knows. */
  readonly knows: Map<string, number>
}

/** Answers the processes of this machine. */
export class MachineBuckets implements BucketsOfAll {
  readonly #asking: Asking
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #takers = new BoundedCache<Takers>(KEPT)

  constructor(asking: Asking, clock: Pick<Clock, 'monotonic'>) {
    this.#asking = asking
    this.#clock = clock
  }

  of(process: string): LimitStore {
    return {
      ask: questions => {
        const answers = questions.map(question => this.#answer(process, question))
        return answers.some(answer => answer instanceof Promise)
          ? Promise.all(answers.map(async answer => answer))
          : (answers as (LimitAnswer | null)[])
      },
    }
  }

  has(key: string): boolean {
    return this.#takers.has(key)
  }

  #answer(process: string, question: LimitQuestion): MaybePromise<LimitAnswer | null> {
    const { key, limit, spent, want, spare, quota } = question
    const takers = this.#takersOf(key)
    const active = countActive(takers.heard, process, this.#clock.monotonic())
    const part: Part = { key, limit, units: Math.abs(spent), ...(quota && { quota }) }
    if (spent > 0) this.#asking.spend(part)
    // What it gives back of what is lost is nobody's.
    else if (spent < 0 && !this.#isRenewed(part, takers, process)) this.#asking.giveBack(part)
    const finish = (granted: number | null): LimitAnswer | null =>
      granted === null ? null : this.#finish(process, part, { active, granted, spare })
    if (want > 0) {
      const granted = this.#asking.takeSome({ ...part, units: want })
      return granted instanceof Promise ? granted.then(finish) : finish(granted)
    }
    const isAsked = quota !== undefined && spare !== undefined
    if (this.#asking.isAway || (!isAsked && this.#asking.isFresh(part))) return finish(0)
    return this.#asking.ask(part).then(level => finish(level === null ? null : 0))
  }

  #finish(
    process: string,
    part: Part,
    { active, granted, spare }: { active: number; granted: number; spare: number | undefined },
  ): LimitAnswer {
    const takers = this.#takersOf(part.key)
    const isRenewed = this.#isRenewed(part, takers, process)
    takers.knows.set(process, this.#asking.renewals(part))
    for (const name of takers.knows.keys()) if (!takers.heard.has(name)) takers.knows.delete(name)
    const spared = spare === undefined ? 0 : this.#asking.takeSpare({ ...part, units: spare }, active)
    const { level, active: machines, own, retry } = this.#asking.view(part)
    return {
      level,
      active: machines * active,
      granted: granted + spared,
      own: own / active,
      ...(retry !== undefined && { retry }),
      ...(isRenewed && { isRenewed }),
    }
  }

  /** Whether a process holds units that the store has lost since it granted them. */
  #isRenewed(part: Part, takers: Takers, process: string): boolean {
    const known = takers.knows.get(process)
    return known !== undefined && known !== this.#asking.renewals(part)
  }

  #takersOf(key: string): Takers {
    let takers = this.#takers.get(key)
    if (takers === undefined) this.#takers.set(key, (takers = { heard: new Map(), knows: new Map() }))
    return takers
  }
}
