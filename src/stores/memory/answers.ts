/** Kept answers in the memory of this process. */
import type { AnswerCache, AnswerOrigin, KeptAnswer } from '../../ports/answer-cache.ts'
import { AnswerRing, NONE } from './answer-ring.ts'

/** Answers of one origin. A purge marks it, and so drops all of them without looking for them. */
interface Origin extends AnswerOrigin {
  /** Stored with each of its answers. */
  readonly index: number
  answers: number
  isPurged: boolean
}

/**
 * Bytes of answers that a step moves to a larger buffer: all of 64 MiB in one turn of the event loop would hold everybody up for 80 ms.
 */
const STEP = 16 * 1024

/** Overwrites the oldest answers that were not asked for again. Keys are compared whole, so two requests never share an answer. */
export class MemoryAnswers implements AnswerCache {
  purges = 0
  /** Answers that can be found. */
  entries = 0
  /** Answers that made room for others. */
  evicted = 0
  #bound: number
  /** Null while nothing is kept. */
  #ring: AnswerRing | null = null
  /** A smaller one, whose answers move to `#ring` as answers are asked for and kept; null when none is left in it. */
  #smaller: AnswerRing | null = null
  readonly #byName = new Map<string, Origin>()
  /** Purged ones too, while any of their answers is in memory. */
  readonly #byIndex = new Map<number, Origin>()
  #nextIndex = 0
  /** The origin of the last answer kept, which the next one often shares. */
  #last: Origin | null = null

  constructor(bound: number) {
    this.#bound = bound
  }

  /** Bytes that are taken. The memory of purged answers is used again as others come. */
  get bytes(): number {
    return (this.#ring?.bytes ?? 0) + (this.#smaller?.bytes ?? 0)
  }

  find(key: string): KeptAnswer | null {
    this.#move(STEP)
    return this.#findIn(this.#ring, key) ?? this.#findIn(this.#smaller, key)
  }

  keep(key: string, answer: KeptAnswer): void {
    this.#move(STEP)
    const ring = (this.#ring ??= this.#newRing())
    if (ring.fits(key, answer.result)) this.#put(ring, key, answer, this.#originOf(answer.origin))
  }

  purge(which: Partial<AnswerOrigin>): number {
    this.purges += 1
    let purged = 0
    for (const [name, origin] of this.#byName) {
      if (!isOf(origin, which)) continue
      purged += origin.answers
      origin.isPurged = true
      this.#byName.delete(name)
    }
    this.entries -= purged
    if (this.#byName.size === 0) this.#begin()
    return purged
  }

  resize(bytes: number): void {
    if (bytes < this.#bound) this.purge({})
    this.#bound = bytes
    const before = this.#ring
    if (before === null || bytes <= before.capacity) return
    const ring = this.#newRing()
    // The system may have refused that much.
    if (ring.capacity <= before.capacity) return
    this.#move(Infinity)
    this.#ring = ring
    this.#smaller = before
  }

  /** Moves answers that are still in the smaller buffer, about so many bytes. */
  #move(bytes: number): void {
    if (this.#smaller === null) return
    this.#ring?.takeOldest(this.#smaller, bytes)
    if (this.#smaller.bytes === 0) this.#smaller = null
  }

  #findIn(ring: AnswerRing | null, key: string): KeptAnswer | null {
    const at = ring?.find(key) ?? NONE
    if (ring === null || at === NONE) return null
    const origin = this.#byIndex.get(ring.originOf(at))!
    if (origin.isPurged) return null
    const answer = { result: ring.resultOf(at), origin, bounds: ring.boundsOf(at) }
    // An answer in use is not overwritten: it is written anew as the newest.
    if (ring.isOld(at)) this.#put(this.#ring!, key, answer, origin)
    return answer
  }

  #newRing(): AnswerRing {
    return new AnswerRing(this.#bound, origin => {
      this.#evict(origin)
    })
  }

  #put(ring: AnswerRing, key: string, { result, bounds }: KeptAnswer, origin: Origin): void {
    // Counted before the old one leaves, because an origin ends with its last answer.
    origin.answers += 1
    this.entries += 1
    if (this.#smaller !== null) this.#remove(this.#smaller, key)
    this.#remove(ring, key)
    if (!ring.add(key, result, origin.index, bounds)) this.#leave(origin.index)
    this.#smaller?.shrink(this.#bound - ring.bytes)
  }

  #remove(ring: AnswerRing, key: string): void {
    const at = ring.find(key)
    if (at === NONE) return
    ring.remove(at)
    this.#leave(ring.originOf(at))
  }

  #evict(index: number): void {
    if (!this.#byIndex.get(index)!.isPurged) this.evicted += 1
    this.#leave(index)
  }

  /** An origin has lost one of its answers. */
  #leave(index: number): void {
    const origin = this.#byIndex.get(index)!
    origin.answers -= 1
    if (!origin.isPurged) this.entries -= 1
    if (origin.answers > 0) return
    this.#byIndex.delete(index)
    if (!origin.isPurged) this.#byName.delete(nameOf(origin))
  }

  /** Releases the memory: nothing is kept any more. */
  #begin(): void {
    this.#ring = this.#smaller = null
    this.#byIndex.clear()
  }

  #originOf({ network, method, route }: AnswerOrigin): Origin {
    const last = this.#last
    if (
      last?.network === network &&
      last.method === method &&
      last.route === route &&
      last.answers > 0 &&
      !last.isPurged
    )
      return last
    const name = nameOf({ network, method, route })
    let own = this.#byName.get(name)
    if (own === undefined) {
      own = { network, method, route, index: this.#nextIndex, answers: 0, isPurged: false }
      this.#nextIndex = (this.#nextIndex + 1) % 2 ** 32
      this.#byName.set(name, own)
      this.#byIndex.set(own.index, own)
    }
    this.#last = own
    return own
  }
}

function nameOf({ network, method, route }: AnswerOrigin): string {
  return `${network}\n${route}\n${method}`
}

function isOf(origin: AnswerOrigin, { network, method, route }: Partial<AnswerOrigin>): boolean {
  return (
    (network === undefined || network === origin.network) &&
    (method === undefined || method === origin.method) &&
    (route === undefined || route === origin.route)
  )
}
