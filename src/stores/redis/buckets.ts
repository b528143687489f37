/** The buckets of all machines in Redis, as one of them asks for them. */
import type { LimitAnswer, LimitQuestion, LimitStore, QuotaOf } from '../../ports/limit-store.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { BoundedCache } from '../../limits/bounded-cache.ts'
import { BUCKETS, RECONCILE, UNKNOWN } from './bucket-script.ts'
import type { Redis } from './redis.ts'
import { bySlot } from './slots.ts'

/**
 * Milliseconds between two comparisons of quotas with the ledger, and after one was opened: others may have charged meanwhile what it did not know. The
 * day of an endpoint is compared at once too, by each machine that asks for it for the first time: its limit may have been set after it was used.
 */
const COMPARED = 30_000
const COMPARED_AGAIN = 5_000
/** Quotas that one message compares. */
const TOGETHER = 500
/** Buckets of which something is remembered. */
const KEPT = 300_000

/** Reads what all machines together have used in a window, as far as that is known; null where nothing can be read now. */
export type KnownUse = (
  account: string,
  window: QuotaOf['window'],
  switched: boolean,
  endpoint?: string,
) => MaybePromise<number | null>

/** Which machine asks, and where a quota begins. */
export interface RedisBucketsOptions {
  readonly redis: Pick<Redis, 'run' | 'isCluster' | 'isAway'>
  /** What no other process is called, now or before. */
  readonly machine: string
  readonly usedInWindow: KnownUse
  /** The same as it is now, with all that this machine has charged: takes its time. */
  readonly usedByNow: KnownUse
  /** The same of this machine alone, asked for right behind the first. */
  readonly ownInWindow: KnownUse
}

/** What was used of a quota: by all machines, as far as that is known, and by this one. */
interface Used {
  readonly all: number
  readonly own: number
}

/** In place of what is used, where a question is not to open a bucket. */
const UNREAD = { all: UNKNOWN, own: 0 } as const
const NOTHING: Used = { all: 0, own: 0 }

/** Questions about a bucket that were not answered, or not yet. */
interface Unanswered {
  /** The number of the first. */
  readonly first: number
  /** What they gave back of a quota: who asks does not say it again, since Redis may have given it to others. */
  readonly returned: number
}

/** What is known of a quota that was asked for. */
interface Quota {
  readonly of: QuotaOf
  /** When Redis opened its bucket: another time is another bucket, and what the one before granted is lost. */
  opened: number
  /** The number of the last question that it answered. */
  answered: number
  /** Whether it was asked for since the last comparison. */
  isActive: boolean
}

/** Asks Redis. A bucket has one question at a time. */
export class RedisBuckets implements LimitStore {
  readonly #options: RedisBucketsOptions
  #number = 0
  /** By bucket, those since the last answer. */
  readonly #unanswered = new BoundedCache<Unanswered>(KEPT)
  readonly #quotas = new BoundedCache<Quota>(KEPT)
  /** Of each account, the length of its quota's windows. */
  readonly #every = new BoundedCache<{ readonly every: number | 'month' }>(KEPT)
  readonly #comparing: NodeJS.Timeout
  readonly #again = new Set<NodeJS.Timeout>()

  constructor(options: RedisBucketsOptions) {
    this.#options = options
    this.#comparing = setInterval(() => void this.compare(), COMPARED)
  }

  async ask(questions: readonly LimitQuestion[]): Promise<readonly (LimitAnswer | null)[]> {
    const answers = await this.#send(
      questions,
      questions.map(({ quota }) => (quota === undefined ? NOTHING : UNREAD)),
    )
    const unopened = questions.flatMap((question, i) => (answers[i] === null && question.quota ? [i] : []))
    if (unopened.length === 0) return answers
    const used = await Promise.all(unopened.map(async i => this.#usedBy(questions[i]!.quota!)))
    const known = unopened.filter((_, nth) => used[nth] !== null)
    const opened = await this.#send(
      known.map(i => questions[i]!),
      used.filter(one => one !== null),
    )
    for (const [nth, i] of known.entries()) answers[i] = opened[nth]!
    if (known.length > 0) this.#compareAgain(known.map(i => questions[i]!.key))
    return answers
  }

  /** Lowers the quotas that were asked for to what the ledger has left of them: heals a Redis that forgot. */
  async compare(): Promise<void> {
    if (this.#options.redis.isAway) return
    const active = [...this.#quotas.entries()].filter(([, { isActive }]) => isActive)
    for (const [, quota] of active) quota.isActive = false
    await this.#compareThese(active.map(([key]) => key))
  }

  close(): void {
    clearInterval(this.#comparing)
    for (const timer of this.#again) clearTimeout(timer)
  }

  async #compare(quotas: readonly (readonly [key: string, quota: Quota])[]): Promise<void> {
    const { usedByNow } = this.#options
    const used = await Promise.all(
      quotas.map(async ([key, { of }]) => [key, await this.#used(of, usedByNow).catch(() => null)] as const),
    )
    const known = used.filter(([, units]) => units !== null)
    const sent = bySlot(known, ([key]) => key, this.#options.redis.isCluster).map(async group =>
      this.#options.redis.run(
        RECONCILE,
        group.map(([key]) => key),
        group.map(([, units]) => units!),
      ),
    )
    // Redis that is away is compared with when it is back.
    await Promise.allSettled(sent)
  }

  #compareAgain(keys: readonly string[]): void {
    const timer = setTimeout(() => {
      this.#again.delete(timer)
      void this.#compareThese(keys)
    }, COMPARED_AGAIN)
    this.#again.add(timer)
  }

  async #compareThese(keys: readonly string[]): Promise<void> {
    if (this.#options.redis.isAway) return
    const known = keys.flatMap(key => {
      const quota = this.#quotas.get(key)
      return quota === undefined ? [] : [[key, quota] as const]
    })
    for (let i = 0; i < known.length; i += TOGETHER) await this.#compare(known.slice(i, i + TOGETHER))
  }

  async #usedBy(quota: QuotaOf): Promise<Used | null> {
    const { account, window, endpoint } = quota
    const all = await this.#used(quota)
    const own = all === null ? null : await this.#options.ownInWindow(account, window, false, endpoint)
    return all === null || own === null ? null : { all, own }
  }

  async #used(
    { account, window, every, endpoint }: QuotaOf,
    read = this.#options.usedInWindow,
  ): Promise<number | null> {
    if (endpoint !== undefined) return read(account, window, false, endpoint)
    const before = this.#every.get(account)
    const used = await read(account, window, before !== undefined && before.every !== every)
    if (used !== null) this.#every.set(account, { every })
    return used
  }

  async #send(
    questions: readonly LimitQuestion[],
    used: readonly (Used | typeof UNREAD)[],
  ): Promise<(LimitAnswer | null)[]> {
    const { redis, machine } = this.#options
    if (questions.length === 0) {
      if (redis.isAway) throw new Error('Redis is away')
      return []
    }
    this.#number += 1
    const number = this.#number
    const answers: (LimitAnswer | null)[] = []
    const groups = bySlot([...questions.keys()], i => questions[i]!.key, redis.isCluster)
    const sent = groups.map(async group => {
      const asked = group.map(i => this.#valuesOf(questions[i]!, number, used[i]!))
      const keys = group.map(i => questions[i]!.key)
      for (const i of group) this.#asked(questions[i]!, number)
      const texts = ((await redis.run(BUCKETS, keys, [machine, JSON.stringify(asked)])) as string).split('\n')
      for (const [nth, i] of group.entries()) answers[i] = this.#answered(questions[i]!, number, texts[nth]!)
    })
    // All are waited for: what is asked again may not still be on its way.
    const failed = (await Promise.allSettled(sent)).find(({ status }) => status === 'rejected')
    if (failed !== undefined) throw (failed as PromiseRejectedResult).reason
    return answers
  }

  #valuesOf(
    { key, limit, spent, over, want, spare = 0, quota }: LimitQuestion,
    number: number,
    used: Used | typeof UNREAD,
  ): (string | number)[] {
    const { first = 0, returned = 0 } = this.#unanswered.get(key) ?? {}
    const ends = quota === undefined ? 0 : quota.window.end * 1000
    const { opened, answered } = this.#quotas.get(key) ?? { opened: 0, answered: 0 }
    const asked = [limit.perSecond, limit.burst, spent, over, want, spare, number, first]
    return [...asked, used.all, ends, used.own, opened, answered, returned]
  }

  #asked({ key, spent, quota }: LimitQuestion, number: number): void {
    const { first = number, returned = 0 } = this.#unanswered.get(key) ?? {}
    const more = quota === undefined ? 0 : Math.max(0, -spent)
    this.#unanswered.set(key, { first, returned: returned + more })
  }

  #answered({ key, quota }: LimitQuestion, number: number, text: string): LimitAnswer | null {
    this.#unanswered.delete(key)
    if (text === '') return null
    const [level, active, granted, traffic, opened] = text.split(' ').map(Number) as [
      number,
      number,
      number,
      number,
      number,
    ]
    const answer = { level, active, granted, traffic }
    if (quota === undefined) return answer
    const known = this.#quotas.get(key)
    this.#quotas.set(key, { of: quota, opened, answered: number, isActive: true })
    if (known === undefined && quota.endpoint !== undefined) void this.#compareThese([key])
    return known !== undefined && known.opened !== opened ? { ...answer, isRenewed: true } : answer
  }
}
