/** The connection to Redis, Valkey or a cluster of them. `ioredis` is loaded when this is: only where gateway.yaml has `redis`. */
import { createHash } from 'node:crypto'
import { Cluster, Redis as Single } from 'ioredis'
import type { RedisConfig } from '../../config/fleet.ts'
import { orAfter } from '../../net/or-after.ts'
import { StoreUnavailable } from '../../ports/store-unavailable.ts'

/** Failures in a row from which on nobody waits for it. */
const FAILURES = 2
/** Milliseconds between two attempts to find it back, and failed ones after which the connection counts as dead. */
const LOOK = 1_000
/** Milliseconds after which all gateways have found one that is back, if they come to it. */
export const FOUND = 1_500
const LOOKS = 2
/** Milliseconds between two attempts to connect, at first and at most. */
const RETRY = { first: 50, most: 1_000 }
/** Milliseconds that a start waits for the first connection. */
const FIRST = 1_000

/** What runs in Redis, atomically. All keys of one run are in one slot. */
export interface Script {
  readonly text: string
  readonly sha: string
}

/** A script with its name in Redis. */
export function script(text: string): Script {
  return { text, sha: createHash('sha1').update(text).digest('hex') }
}

/** Probes with a write, because a full Redis or a replica still answers PING. */
const TAKES_WRITES = script(`redis.call('SET', KEYS[1], 1, 'PX', ${LOOK})`)

/** Hears that it is away, or there again. */
export interface RedisEvents {
  readonly away: (why: Error) => void
  readonly back: () => void
}

/** Runs scripts. What takes longer than the timeout fails; after two failures everything fails at once until it takes a write. */
export class Redis {
  /** Whether keys in different braces may be on different servers. */
  readonly isCluster: boolean
  readonly #config: Pick<RedisConfig, 'prefix' | 'timeout'>
  readonly #client: Single | Cluster
  readonly #events: RedisEvents
  #failures = 0
  #isAway = false
  #lostLooks = 0
  /** Why the last attempt to connect failed. */
  #fault: unknown
  readonly #looking: NodeJS.Timeout

  private constructor(config: RedisConfig, events: RedisEvents) {
    this.#config = config
    this.#events = events
    this.isCluster = config.url.length > 1
    this.#client = connect(config)
    // Each failed attempt to connect is an error; a command that fails for it reports it.
    this.#client.on('error', (error: unknown) => {
      this.#fault = error
    })
    this.#client.on('ready', () => void this.#look())
    this.#looking = setInterval(() => void this.#look(), LOOK)
  }

  /** Connects; where that takes long, it goes on in the background. */
  static async open(config: RedisConfig, events: RedisEvents): Promise<Redis> {
    const redis = new Redis(config, events)
    const ready = new Promise<void>(resolve => redis.#client.once('ready', resolve))
    if (!(await orAfter(ready, FIRST))) redis.#leave(faultOf(redis.#fault))
    return redis
  }

  get isAway(): boolean {
    return this.#isAway
  }

  /** Runs a script on keys, which get the prefix of this gateway's; rejects with StoreUnavailable. */
  async run(script: Script, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> {
    if (this.#isAway) throw new StoreUnavailable('Redis is away')
    const named = keys.map(key => `${this.#config.prefix}:${key}`)
    try {
      const answer = await this.#inTime(this.#run(script, named, values))
      this.#failures = 0
      return answer
    } catch (error) {
      const why = error as Error
      this.#failures += 1
      if (this.#failures >= FAILURES) this.#leave(why)
      throw new StoreUnavailable(`Redis does not answer: ${why.message}`, { cause: error })
    }
  }

  close(): void {
    clearInterval(this.#looking)
    this.#client.disconnect()
  }

  async #run(
    { text, sha }: Script,
    keys: readonly string[],
    values: readonly (string | number)[],
  ): Promise<unknown> {
    try {
      return await this.#client.evalsha(sha, keys.length, ...keys, ...values)
    } catch (error) {
      // One that was started anew knows no scripts.
      if (!String(error).includes('NOSCRIPT')) throw faultOf(error)
      return this.#client.eval(text, keys.length, ...keys, ...values).catch((again: unknown) => {
        throw faultOf(again)
      })
    }
  }

  /** An answer that comes later than this is dropped; the next one is matched to its own question all the same. */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    const settled = answer.then(
      () => undefined,
      () => undefined,
    )
    if (!(await orAfter(settled, this.#config.timeout)))
      throw new Error(`no answer within ${this.#config.timeout} ms`)
    return answer
  }

  #leave(why: Error): void {
    if (this.#isAway) return
    this.#isAway = true
    this.#lostLooks = 0
    this.#events.away(why)
  }

  async #look(): Promise<void> {
    if (!this.#isAway || this.#client.status !== 'ready') return
    try {
      await this.#inTime(this.#run(TAKES_WRITES, [`${this.#config.prefix}:look`], []))
      this.#isAway = false
      this.#failures = 0
      this.#events.back()
    } catch {
      this.#lostLooks += 1
      // A way that is cut without a word is found to be dead much later.
      if (this.#lostLooks % LOOKS === 0) this.#client.disconnect(true)
    }
  }
}

/** Why a gateway could not use Redis now; null if it could. Writes a key that expires within a second. */
export async function whyUnusable(config: RedisConfig): Promise<string | null> {
  const faults: Error[] = []
  const redis = await Redis.open(config, { away: why => void faults.push(why), back: () => undefined })
  try {
    if (!redis.isAway) await redis.run(TAKES_WRITES, ['check'], [])
    return faults[0]?.message ?? null
  } catch (error) {
    return (error as Error).message
  } finally {
    redis.close()
  }
}

/** What Redis said of a command, or why there is no connection: ioredis has sentences about its own queue instead. */
function faultOf(error: unknown): Error {
  const { name, code } = (error ?? {}) as NodeJS.ErrnoException
  if (name === 'ReplyError') return error as Error
  return new Error(code === undefined ? 'no connection' : `no connection: ${code}`, { cause: error })
}

function connect({ url, timeout }: RedisConfig): Single | Cluster {
  const options = {
    connectionName: 'tollgate',
    disableClientInfo: true,
    protocol: 2 as const,
    maxRetriesPerRequest: 0,
    // What was not answered is not asked again by itself: the asker knows whether it still wants it.
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    connectTimeout: Math.max(timeout, RETRY.most),
  }
  const [first] = url
  if (url.length === 1) return new Single(first!, { ...options, enableOfflineQueue: false, retryStrategy })
  const { protocol, username, password } = new URL(first!)
  return new Cluster([...url], {
    redisOptions: {
      ...options,
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(protocol === 'rediss:' && { tls: {} }),
    },
    ...(protocol === 'rediss:' && {
      dnsLookup: (address, callback) => {
        callback(null, address)
      },
    }),
    enableOfflineQueue: false,
    enableReadyCheck: false,
    clusterRetryStrategy: retryStrategy,
    slotsRefreshTimeout: Math.max(timeout, RETRY.most),
    maxRedirections: 3,
    retryDelayOnFailover: 10,
    retryDelayOnClusterDown: 10,
    retryDelayOnTryAgain: 10,
  })
}

/** Milliseconds until the next attempt: many gateways that lost one Redis do not come back at once. */
function retryStrategy(attempts: number): number {
  return Math.min(RETRY.most, RETRY.first * 2 ** attempts) * (0.5 + Math.random() / 2)
}
