/** Methods that routes have turned out to lack. */
import { BoundedCache } from '../limits/bounded-cache.ts'

/** Pairs of route and method remembered, and milliseconds after which a route is asked again. */
const KEPT = 10_000
const LIVES = 600_000

const NONE: readonly string[] = []

/** What routes lack. */
export class Unsupported {
  readonly #known = new BoundedCache<true>(KEPT, { ttl: LIVES })

  /** A route said that it does not have a method. */
  learn(route: string, method: string): void {
    this.#known.set(`${route} ${method}`, true)
  }

  /** Those of the routes that are known to lack the method. */
  among(routes: readonly string[], method: string): readonly string[] {
    if (this.#known.size === 0) return NONE
    const lacking = routes.filter(route => this.#known.has(`${route} ${method}`))
    return lacking.length === 0 ? NONE : lacking
  }

  /** Forgets everything: an edit may have put other upstreams behind the same names. */
  clear(): void {
    this.#known.clear()
  }
}
