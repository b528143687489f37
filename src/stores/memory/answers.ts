/** Kept answers in the memory of this process. */
import { LRUCache } from 'lru-cache'
import type { AnswerCache, AnswerOrigin, KeptAnswer } from '../../ports/answer-cache.ts'

/** Bytes that an answer costs besides its key and its result: measured, 154 000 small ones took 62 MiB of heap. */
export const PER_ANSWER = 200

/** Answers of one origin. A purge marks it, and so drops all of them without looking for them. */
interface Origin extends AnswerOrigin {
  answers: number
  isPurged: boolean
}

type Kept = KeptAnswer & { readonly origin: Origin }

/** The answers that were not asked for longest make room. Keys are compared as a whole: no two requests meet. */
export class MemoryAnswers implements AnswerCache {
  purges = 0
  /** Answers that made room for others. */
  evicted = 0
  #bound: number
  readonly #origins = new Map<string, Origin>()
  readonly #answers = new LRUCache<string, Kept>({
    // The bound can change, which lru-cache's own cannot.
    maxSize: Number.MAX_SAFE_INTEGER,
    sizeCalculation: ({ result }, key) => result.length + key.length + PER_ANSWER,
    dispose: ({ origin }) => {
      origin.answers -= 1
      if (origin.answers === 0 && !origin.isPurged) this.#origins.delete(nameOf(origin))
    },
  })

  constructor(bound: number) {
    this.#bound = bound
  }

  /** Bytes that are taken, by count. */
  get bytes(): number {
    return this.#answers.calculatedSize
  }

  /** Answers in memory; of purged ones the memory is taken back as others come. */
  get entries(): number {
    return this.#answers.size
  }

  find(key: string): KeptAnswer | null {
    const kept = this.#answers.get(key)
    if (kept === undefined) return null
    if (!kept.origin.isPurged) return kept
    this.#answers.delete(key)
    return null
  }

  keep(key: string, { result, origin, bounds }: KeptAnswer): void {
    if (result.length + key.length + PER_ANSWER > this.#bound) return
    const own = this.#originOf(origin)
    own.answers += 1
    // Copies: slices of a request and a reply would keep all of both.
    this.#answers.set(flat(key), { result: flat(result), origin: own, bounds })
    while (this.#answers.calculatedSize > this.#bound) {
      this.#answers.pop()
      this.evicted += 1
    }
  }

  purge(which: Partial<AnswerOrigin>): number {
    this.purges += 1
    let purged = 0
    for (const [name, origin] of this.#origins) {
      if (!isOf(origin, which)) continue
      purged += origin.answers
      origin.isPurged = true
      this.#origins.delete(name)
    }
    // There is nothing left that memory would be kept for.
    if (this.#origins.size === 0) this.#answers.clear()
    return purged
  }

  resize(bytes: number): void {
    if (bytes < this.#bound) this.purge({})
    this.#bound = bytes
  }

  #originOf(origin: AnswerOrigin): Origin {
    const name = nameOf(origin)
    let own = this.#origins.get(name)
    if (own === undefined) {
      const { network, method, route } = origin
      this.#origins.set(name, (own = { network, method, route, answers: 0, isPurged: false }))
    }
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

function flat(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}
