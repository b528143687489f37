/** What the processes of a machine hold of one key, and the room that each was given. */

/** The part of the limit from which on nobody gets room, and each take asks. */
export const EDGE = 0.8
/** Of what is left below the edge, the part that all processes get as room together. */
export const GIVEN = 1 / 2

/** One process's part. */
interface Place {
  readonly slot: number
  held: number
  room: number
}

/** Sums them up. What is held together with all room never passes the limit. */
export class HeldKey<Member> {
  readonly key: string
  /** Asks all who have a part what they hold now; null while that is not under way. */
  round: Promise<void> | null = null
  readonly #places = new Map<Member, Place>()

  constructor(key: string) {
    this.key = key
  }

  get isEmpty(): boolean {
    return this.#places.size === 0 && this.round === null
  }

  /** Whether a process has a part. */
  has(member: Member): boolean {
    return this.#places.has(member)
  }

  /** What a process says that it has. */
  set(member: Member, slot: number, held: number, room: number): void {
    if (held <= 0 && room <= 0) this.#places.delete(member)
    else this.#places.set(member, { slot, held, room })
  }

  /** How many nobody holds, and nobody has room for. */
  left(limit: number): number {
    return limit - this.#sum(({ held, room }) => held + room)
  }

  /** Gives a process so many, of which it has not heard yet. */
  grant(member: Member, slot: number, granted: number): void {
    const place = this.#places.get(member)
    this.set(member, slot, (place?.held ?? 0) + granted, place?.room ?? 0)
  }

  /** Gives room to a process that holds something, while much is left. `processes` are those that may want room too. */
  give(member: Member, limit: number, processes: number): number {
    const place = this.#places.get(member)
    // While everybody is asked what they hold, an answer under way would not know of it.
    if (place === undefined || place.held === 0 || this.round !== null) return 0
    const spare = this.left(limit * EDGE) + place.room
    const given = Math.max(0, Math.floor((spare * GIVEN) / processes) - place.room)
    place.room += given
    return given
  }

  /** What the others hold. */
  others(member: Member): number {
    const own = this.#places.get(member)?.held ?? 0
    return this.#sum(({ held }) => held) - own
  }

  /** What is held in the slots before this one. */
  before(slot: number): number {
    return this.#sum(place => (place.slot < slot ? place.held : 0))
  }

  #sum(of: (place: Place) => number): number {
    let sum = 0
    for (const place of this.#places.values()) sum += of(place)
    return sum
  }
}
