/** Processes that share one bucket, in simulated time: what they let pass, and what one exact bucket would have. */
import { Asking } from '../../src/limits/asking.ts'
import { LocalBuckets } from '../../src/limits/buckets.ts'
import { MachineBuckets } from '../../src/limits/machine-buckets.ts'
import { newBucket, take } from '../../src/limits/bucket.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { LimitStore, QuotaOf } from '../../src/ports/limit-store.ts'
import type { RateLimit } from '../../src/ports/limits.ts'

/** One call: when (milliseconds), by which process, how much. */
export interface Call {
  readonly at: number
  readonly process: number
  readonly units: number
}

export interface Scene {
  readonly processes: number
  /** Milliseconds between two reports, and on the way from a process to the store. */
  readonly every: number
  readonly delay: number
  /** Machines that the processes are on, each with a keeper that takes for them from a store of all: reports every 100 ms, half a millisecond away. */
  readonly machines?: number
  readonly limit: RateLimit
  /** In the order of their times. */
  readonly calls: readonly Call[]
  /** From when to when the store answers nobody. */
  readonly away?: readonly [from: number, to: number]
}

/** Units, calls and messages. */
export interface Outcome {
  readonly offered: number
  readonly admitted: number
  /** What one bucket for all would have admitted. */
  readonly exact: number
  readonly refused: number
  /** The most by which those admitted were ahead of what one bucket had admitted. */
  readonly ahead: number
  /** Calls that waited for an answer. */
  readonly waited: number
  readonly messages: number
}

/** Runs what is due in the order of its time. */
class Simulated implements Clock {
  #time = 0
  readonly #due: { readonly at: number; readonly f: () => void }[] = []

  readonly now = (): number => this.#time
  readonly monotonic = (): number => this.#time
  readonly after = (ms: number, f: () => void): (() => void) => {
    const one = { at: this.#time + ms, f }
    const place = this.#due.findIndex(({ at }) => at > one.at)
    this.#due.splice(place === -1 ? this.#due.length : place, 0, one)
    return () => {
      const at = this.#due.indexOf(one)
      if (at !== -1) this.#due.splice(at, 1)
    }
  }

  /** Moves on to a time; what is due until then is done, each with all that follows from it. */
  async to(time: number): Promise<void> {
    while (this.#due.length > 0 && this.#due[0]!.at <= time) {
      const { at, f } = this.#due.shift()!
      this.#time = at
      f()
      await new Promise(setImmediate)
    }
    this.#time = time
  }
}

/** Plays a scene to a second behind its last call. */
export async function play({
  processes,
  every,
  delay,
  machines,
  limit,
  calls,
  away,
}: Scene): Promise<Outcome> {
  const clock = new Simulated()
  const buckets = new LocalBuckets(clock, () => 0)
  let messages = 0
  const overWire = (store: LimitStore, delay: number, isOfAll: boolean): LimitStore => {
    const later = async (): Promise<void> => new Promise(resolve => clock.after(delay, resolve))
    return {
      ask: async questions => {
        messages += 1
        await later()
        const now = clock.now()
        if (isOfAll && away !== undefined && now >= away[0] && now < away[1]) throw new Error('away')
        const answers = await store.ask(questions)
        await later()
        return answers
      },
    }
  }
  const soon = (f: () => void): (() => void) => clock.after(0, f)
  const keepers = Array.from({ length: machines ?? 0 }, (_, i) => {
    const store = overWire(buckets.of(`machine ${i}`), 0.5, true)
    const options = { store, clock, every: 100, processes: machines!, away: 'part' as const, soon }
    return new MachineBuckets(new Asking(options), clock)
  })
  const all = Array.from({ length: processes }, (_, i) => {
    const keeper = keepers[Math.floor((i * keepers.length) / processes)]
    const store = overWire((keeper ?? buckets).of(String(i)), delay, keeper === undefined)
    return new Asking({ store, clock, every, processes, soon })
  })
  const exact = newBucket(limit, 0)
  const quota: QuotaOf = { account: 'acc_1', window: { start: 0, end: 1 }, every: 1_000 }
  const outcome = { offered: 0, admitted: 0, exact: 0, ahead: 0, refused: 0, waited: 0 }
  for (const { at, process, units } of calls) {
    await clock.to(at)
    outcome.offered += units
    if (take(exact, limit, units, at) === 0) outcome.exact += units
    const count = (wait: number | null): void => {
      if (wait === 0) outcome.admitted += units
      else outcome.refused += 1
      outcome.ahead = Math.max(outcome.ahead, outcome.admitted - outcome.exact)
    }
    const taken = all[process]!.take({ key: 'bucket', limit, units, ...(limit.perSecond === 0 && { quota }) })
    if (taken instanceof Promise) {
      outcome.waited += 1
      void taken.then(count)
    } else count(taken)
  }
  await clock.to((calls.at(-1)?.at ?? 0) + 1_000)
  return { ...outcome, messages }
}

/** Numbers from 0 to 1 that a seed decides (xorshift32). */
export function randomFrom(seed: number): () => number {
  let state = seed | 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

/** Calls at random moments: `perSecond` of them on average, each by the process that `choose` gives. */
export function arrivals(
  random: () => number,
  { from = 0, to, perSecond, units = 1, together = 1 }: ArrivalOptions,
  choose: (at: number) => number,
): Call[] {
  const calls: Call[] = []
  for (let at = from; ;) {
    at += (-Math.log(1 - random()) * 1000 * together) / perSecond
    if (at >= to) return calls
    const process = choose(at)
    for (let i = 0; i < together; i += 1) calls.push({ at, process, units })
  }
}

export interface ArrivalOptions {
  readonly from?: number
  readonly to: number
  readonly perSecond: number
  readonly units?: number
  /** Calls that come in one batch. */
  readonly together?: number
}
