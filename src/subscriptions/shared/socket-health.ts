/** How the sockets of routes fare: which routes carry subscriptions last, and how soon a socket is opened again. Times are in milliseconds of a monotonic clock. */
import { withCause } from '../../routes/transport/cause.ts'

/** How long a route comes after the others once its socket was lost or cut. */
const AVOIDED = 60_000
/** How long a socket has to last to end a row of failures. */
export const STEADY = 5_000
/** Sockets lost in a row that the operator is told of; of one that cannot be opened he hears at once. */
const REPORTED = 3
/** Pause before a socket is opened after the second failure in a row; doubled with each further one up to the last. */
const FIRST_PAUSE = 100
const LAST_PAUSE = 5_000

/**
 * What speaks against carrying subscriptions over a route: 1 where it lost a socket, 3 where its sockets keep failing or one was cut.
 * A route that calls avoid has 2 (`Upstreams.carriers`): a socket lost once is better than that, one that never lasts is worse.
 */
export type Trouble = 0 | 1 | 3

/** Hears of routes whose sockets keep failing, once, and when one lasts again. */
export interface HealthEvents {
  socketsFail(route: string, why: string): void
  socketsLast(route: string, ms: number): void
}

interface Record {
  /** In a row. */
  failures: number
  avoidedUntil: number
  cut: boolean
  /** Why the last socket could not be opened, empty where that is not known; null where it could. */
  unreached: string | null
  /** When the next socket may be opened. */
  openAt: number
  /** Since when the operator knows that they fail; null when they do not. */
  failingSince: number | null
}

/** Knows how the last sockets of each route ended. */
export class SocketHealth {
  readonly #events: HealthEvents
  readonly #most: number
  readonly #records = new Map<string, Record>()

  /** The oldest record makes room where there are `most`. */
  constructor(events: HealthEvents, most = Infinity) {
    this.#events = events
    this.#most = most
  }

  /** How far behind the others a route comes. */
  trouble(route: string, now: number): Trouble {
    const record = this.#records.get(route)
    if (record === undefined || now >= record.avoidedUntil) return 0
    return record.cut || record.failures > 1 ? 3 : 1
  }

  /** Milliseconds until the next socket of a route may be opened. */
  pause(route: string, now: number): number {
    return Math.max(0, (this.#records.get(route)?.openAt ?? 0) - now)
  }

  /** Why the last socket could not be opened a short while ago, empty where that is not known; null where it could. */
  whyUnreached(route: string, now: number): string | null {
    const record = this.#records.get(route)
    return record !== undefined && now < record.avoidedUntil ? record.unreached : null
  }

  /** A socket could not be opened. */
  unreached(route: string, now: number, cause: string | null = null): void {
    this.#failed(route, withCause('it takes no connections', cause), now, 1)
    this.#record(route, now).unreached = cause ?? ''
  }

  /** A socket is open, and may still be lost. */
  opened(route: string): void {
    const record = this.#records.get(route)
    if (record !== undefined) record.unreached = null
  }

  /** A socket was lost. */
  lost(route: string, now: number): void {
    this.#failed(route, 'its connections do not last', now, REPORTED)
  }

  #failed(route: string, why: string, now: number, reported: number): void {
    const record = this.#record(route, now)
    record.failures += 1
    if (record.failures > 1)
      record.openAt = now + Math.min(FIRST_PAUSE * 2 ** (record.failures - 2), LAST_PAUSE)
    if (record.failures < reported || record.failingSince !== null) return
    record.failingSince = now
    this.#events.socketsFail(route, why)
  }

  /** We cut a socket for what it sent, or did not send. */
  cut(route: string, now: number): void {
    this.#record(route, now).cut = true
  }

  /** A socket has lasted. */
  lasted(route: string, now: number): void {
    const record = this.#records.get(route)
    if (record === undefined) return
    const { failingSince } = record
    record.failures = 0
    record.failingSince = null
    if (failingSince !== null) this.#events.socketsLast(route, now - failingSince)
  }

  /** Forgets a route that leads elsewhere. */
  forget(route: string): void {
    this.#records.delete(route)
  }

  /** Forgets routes that are gone. */
  retain(isServed: (route: string) => boolean): void {
    for (const route of this.#records.keys()) if (!isServed(route)) this.#records.delete(route)
  }

  /** The record of a route against which something speaks from now on. */
  #record(route: string, now: number): Record {
    const known = this.#records.get(route)
    const record = known ?? {
      failures: 0,
      avoidedUntil: 0,
      cut: false,
      unreached: null,
      openAt: 0,
      failingSince: null,
    }
    if (known === undefined) {
      const [oldest] = this.#records.keys()
      if (this.#records.size >= this.#most && oldest !== undefined) this.#records.delete(oldest)
      this.#records.set(route, record)
    }
    if (now >= record.avoidedUntil) record.cut = false
    record.avoidedUntil = now + AVOIDED
    return record
  }
}
