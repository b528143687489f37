/** How many machines share this Redis: each says every few seconds that it is there. */
import { script } from './redis.ts'
import type { Redis } from './redis.ts'

/** Milliseconds between two signs of life, and after how many without one a machine is gone. */
const BEAT = 2_000
const SILENT = 10_000
/** How long fewer are to be there before they are: one that lost its data hears of all within a beat. */
const FEWER = 2 * BEAT
const KEY = 'nodes'

const HEARTBEAT = script(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ${SILENT})
redis.call('PEXPIRE', KEYS[1], ${SILENT})
return redis.call('ZCARD', KEYS[1])
`)

const GONE = script(`return redis.call('ZREM', KEYS[1], ARGV[1])`)

/** Counts them. While Redis is away it is as many as there were, and where it has lost its data. */
export class Machines {
  readonly #redis: Pick<Redis, 'run'>
  readonly #machine: string
  readonly #beating: NodeJS.Timeout
  #live = 1
  /** Since when there are fewer. */
  #fewerSince = Infinity

  private constructor(redis: Pick<Redis, 'run'>, machine: string, heard: (live: number) => void) {
    this.#redis = redis
    this.#machine = machine
    this.#beating = setInterval(
      () =>
        void this.beat().then(() => {
          heard(this.#live)
        }),
      BEAT,
    )
  }

  /** Counts this one in; `heard` hears how many there are, again and again: processes come that do not know. */
  static async join(
    redis: Pick<Redis, 'run'>,
    machine: string,
    heard: (live: number) => void,
  ): Promise<Machines> {
    const machines = new Machines(redis, machine, heard)
    await machines.beat()
    return machines
  }

  /** At least this one. */
  get live(): number {
    return this.#live
  }

  /** Says that this one is there, now. */
  async beat(): Promise<void> {
    const live = await this.#redis.run(HEARTBEAT, [KEY], [this.#machine]).catch(() => null)
    const isFewer = typeof live === 'number' && live < this.#live
    const now = performance.now()
    this.#fewerSince = isFewer ? Math.min(this.#fewerSince, now) : Infinity
    if (typeof live === 'number' && (!isFewer || now - this.#fewerSince >= FEWER))
      this.#live = Math.max(1, live)
  }

  async close(): Promise<void> {
    clearInterval(this.#beating)
    await this.#redis.run(GONE, [KEY], [this.#machine]).catch(() => undefined)
  }
}
