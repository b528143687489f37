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
    return this.#ring?.bytes ?? 0
  }

  find(key: string): KeptAnswer | null {
    const ring = this.#ring
    const at = ring?.find(key) ?? NONE
    if (ring === null || at === NONE) return null
    const origin = this.#byIndex.get(ring.originOf(at))!
    if (origin.isPurged) return null
    const answer = { result: ring.resultOf(at), origin, bounds: ring.boundsOf(at) }
    // An answer in use is not overwritten: it is written anew as the newest.
    if (ring.isOld(at)) this.#put(ring, key, answer, origin)
    return answer
  }

  keep(key: string, answer: KeptAnswer): void {
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
    const isMore = bytes > this.#bound
    this.#bound = bytes
    if (!isMore || this.#ring === null) return
    const ring = this.#newRing()
    ring.takeAll(this.#ring)
    this.#ring = ring
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
    const old = ring.find(key)
    if (old !== NONE) {
      ring.remove(old)
      this.#leave(ring.originOf(old))
    }
    if (!ring.add(key, result, origin.index, bounds)) this.#leave(origin.index)
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
    this.#ring = null
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
