/** One call that is under way to the nodes, and the equal calls that wait for its answer. */
import { Departure } from '../../net/departure.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Need } from '../../routes/pick.ts'
import type { Answer } from '../reply/answer.ts'
import type { RowTraffic } from './row-traffic.ts'

/** Calls that may wait for one flight; the next begins another. */
const JOINERS = 4_096
/** Those that are answered in one turn of the event loop, before others get theirs. */
const PER_TURN = 256

/** Milliseconds after the first send during which a call about a block that moves may join: what was written before is not read later. */
export const FRESH = 20

/** What came of a call that nodes were asked for. */
export interface Fetched {
  readonly answer: Answer
  /** The route that gave it; null where none did. */
  readonly route: string | null
  /** The same, or the route that was tried last. */
  readonly tried: string | null
  /** Whether it is a refusal for want of what is its caller's own, such as memory: another caller may be served. */
  readonly isOwn: boolean
}

/** What makes calls equal. */
export interface FlightKey {
  readonly row: RowTraffic
  readonly method: string
  /** Without white space between values. */
  readonly params: Raw
  readonly hash: number
}

/** Whose call it is that leads a flight or asks to join one. */
export interface Passenger {
  readonly need: Need
  /** `holderOf` its caller. */
  readonly caller: string
  /** Of its client. */
  readonly departure: () => Departure | null
}

/** What a flight comes to for one who has joined it: null where it broke. `left` is its client. */
export type Landing = Fetched | 'left' | null

interface Waiting {
  readonly land: (landing: Landing) => void
  readonly passenger: Passenger
  unwatch: () => void
}

/** An upstream call, which ends early only when nobody waits for its answer any more. */
export class Flight {
  readonly key: FlightKey
  /** The next one in its chain of the table. */
  next: Flight | null = null
  /** The newest block that was known when it began, where its params name a block by number. */
  readonly known: number | null
  readonly leader: Passenger
  /** When a node was first sent the call, by the monotonic clock; null while it waits for a connection. */
  #sentAt: number | null = null
  /** The route that was asked first; null as long as none was. */
  #asked: string | null = null
  #waiting: Set<Waiting> | null = null
  /** Of all who wait; made when somebody wants to know. */
  #departure: Departure | null = null
  #isGathered = false
  #unwatchLeader: () => void = NOTHING
  /** Who has not left, as far as they are watched. */
  #present = 1

  constructor(key: FlightKey, leader: Passenger, known: number | null) {
    this.key = key
    this.known = known
    this.leader = leader
  }

  /** It is sent in one body with other items of its message: the node may answer all of them when the slowest is done. */
  gathered(): void {
    this.#isGathered = true
  }

  /** A node is sent the call. A second attempt reads no earlier than the first. */
  sent(now: number, route: string): void {
    this.#sentAt ??= now
    this.#asked ??= route
  }

  get asked(): string | null {
    return this.#asked
  }

  /** Whether a node may have seen it. */
  get isSent(): boolean {
    return this.#sentAt !== null
  }

  /** Whether it was sent before what a call that begins now has written by `wroteAt`. */
  isBefore(wroteAt: number): boolean {
    return this.#sentAt !== null && this.#sentAt <= wroteAt
  }

  /** Whether it reads what a call that begins now would. */
  isFresh(now: number): boolean {
    return this.#sentAt === null || now - this.#sentAt <= FRESH
  }

  /**
   * Whether there is a place for this call. A reader is not shown less than it was before, and who knows a route that took its transaction asks
   * that one. Whoever waits for a connection lets none wait with it but its own: another caller's turn may come first. The
   * same holds for a call that is sent with others.
   */
  takes({ need, caller }: Passenger): boolean {
    const { atLeast, scale, prefer } = this.leader.need
    if (need.atLeast !== null && (need.scale !== scale || need.atLeast > (atLeast ?? -1))) return false
    if (need.prefer !== undefined && !isWithin(prefer, need.prefer)) return false
    if ((this.#sentAt === null || this.#isGathered) && caller !== this.leader.caller) return false
    return (this.#waiting?.size ?? 0) < JOINERS && this.#departure?.isOver !== true
  }

  /** Waits for its end, or for the client's. */
  join(passenger: Passenger): Promise<Landing> {
    return new Promise(land => {
      const joined: Waiting = { land, passenger, unwatch: NOTHING }
      this.#waiting ??= new Set()
      this.#waiting.add(joined)
      this.#present += 1
      if (this.#departure !== null) this.#watchJoined(joined)
    })
  }

  /** That nobody waits any more. */
  departure(): Departure {
    if (this.#departure !== null) return this.#departure
    const departure = (this.#departure = new JointDeparture(() => this.#areGone()))
    this.#unwatchLeader = watch(this.leader, () => {
      this.#leaves()
    })
    for (const joined of this.#waiting ?? []) this.#watchJoined(joined)
    return departure
  }

  /** Gives everybody what came of it; null where it broke. */
  land(fetched: Fetched | null): void {
    this.#unwatchLeader()
    if (this.#waiting !== null) landInTurns([...this.#waiting], fetched)
    this.#waiting = null
  }

  #watchJoined(joined: Waiting): void {
    joined.unwatch = watch(joined.passenger, () => {
      this.#waiting?.delete(joined)
      joined.land('left')
      this.#leaves()
    })
  }

  #areGone(): boolean {
    if (!isGone(this.leader)) return false
    for (const { passenger } of this.#waiting ?? []) if (!isGone(passenger)) return false
    return true
  }

  #leaves(): void {
    this.#present -= 1
    if (this.#present === 0) this.#departure?.leave()
  }
}

const NOTHING = (): void => undefined

/** Who has left meanwhile has landed already. */
function landInTurns(waiting: readonly Waiting[], fetched: Fetched | null): void {
  for (const { land, unwatch } of waiting.slice(0, PER_TURN)) {
    unwatch()
    land(fetched)
  }
  if (waiting.length > PER_TURN) setImmediate(landInTurns, waiting.slice(PER_TURN), fetched)
}

/** Whether the flight prefers routes, and each of them is one that the reader prefers too. */
function isWithin(prefer: readonly string[] | undefined, wanted: readonly string[]): boolean {
  if (wanted.length === 0) return true
  return prefer !== undefined && prefer.length > 0 && prefer.every(id => wanted.includes(id))
}

/** Of several, whose listeners hear a turn later of the last one than its own do: who asks knows at once. */
class JointDeparture extends Departure {
  readonly #areGone: () => boolean

  constructor(areGone: () => boolean) {
    super()
    this.#areGone = areGone
  }

  override get isOver(): boolean {
    return super.isOver || this.#areGone()
  }
}

function isGone({ departure }: Passenger): boolean {
  return departure()?.isOver === true
}

/** Calls `left` once when the client has left; at once where it has already. Returns how to prevent that. */
function watch({ departure: whose }: Passenger, left: () => void): () => void {
  const departure = whose()
  if (departure === null) return NOTHING
  if (departure.isOver) {
    left()
    return NOTHING
  }
  departure.on(left)
  return () => {
    departure.off(left)
  }
}
