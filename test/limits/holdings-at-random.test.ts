/** Several workers against one count: takes, frees, workers that are killed and keepers that come again, at random. */
import t from 'tap'
import type { Test } from 'tap'
import { HeldCounts } from '../../src/limits/held-counts.ts'
import type { Holdings } from '../../src/ports/holdings.ts'
import { connectHoldings } from '../support/holdings.ts'
import type { ConnectedHoldings } from '../support/holdings.ts'
import { keeperAt, startKeeper } from '../support/keeper.ts'
import { Random } from '../support/random.ts'
import { until } from '../support/until.ts'

const WORKERS = 4
const HOLDERS = ['a', 'b']

/** A worker, and what the test knows that it holds. */
interface Worker {
  readonly slot: number
  readonly shared: ConnectedHoldings
  readonly holdings: Holdings
  readonly held: Map<string, number>
}

/** All workers, and the keeper of the moment. */
class Fleet {
  readonly workers: Worker[] = []
  readonly #t: Test
  readonly #path: string
  readonly #limit: number
  #keeper: Awaited<ReturnType<typeof keeperAt>>
  /** Whether nobody can be asked: each goes by what it knows. */
  isAway = false

  constructor(t: Test, path: string, keeper: Awaited<ReturnType<typeof keeperAt>>, limit: number) {
    this.#t = t
    this.#path = path
    this.#keeper = keeper
    this.#limit = limit
  }

  held(holder: string): number {
    return this.workers.reduce((sum, { held }) => sum + (held.get(holder) ?? 0), 0)
  }

  async start(slot: number): Promise<void> {
    const shared = await connectHoldings(this.#t, this.#path, { slot })
    this.workers.push({ slot, shared, holdings: shared.of('connections'), held: new Map() })
    await this.#settle()
  }

  /** What it holds ends with it. */
  async kill(random: Random): Promise<void> {
    const [worker] = this.workers.splice(random.below(this.workers.length), 1)
    worker!.shared.client.close()
    await this.#settle()
    await this.start(worker!.slot)
  }

  async restart(random: Random): Promise<void> {
    await this.#keeper.close()
    await until('it is noticed', () =>
      Promise.resolve(this.workers.every(({ shared }) => !shared.client.isConnected)),
    )
    this.isAway = true
    for (let i = random.below(4); i > 0; i -= 1) await this.race(random)
    this.#keeper = await keeperAt(this.#t, this.#path, { holdings: new HeldCounts({ processes: WORKERS }) })
    await this.#settle()
    this.isAway = false
  }

  /** Frees some, then takes some everywhere at once: as many are granted as there are left. */
  async race(random: Random): Promise<string | null> {
    const holder = random.pick(HOLDERS)
    for (const worker of this.workers)
      for (let i = random.below(1 + (worker.held.get(holder) ?? 0)); i > 0; i -= 1) {
        worker.holdings.free(holder)
        worker.held.set(holder, worker.held.get(holder)! - 1)
      }
    const before = this.held(holder)
    const count = random.below(this.#limit + 4)
    const taken = await Promise.all(
      Array.from({ length: count }, async () => {
        const worker = random.pick(this.workers)
        if (random.below(3) === 0) await new Promise(setImmediate)
        const isTaken = await worker.holdings.take(holder, this.#limit)
        if (isTaken) worker.held.set(holder, (worker.held.get(holder) ?? 0) + 1)
        return isTaken
      }),
    )
    const granted = taken.filter(Boolean).length
    const left = Math.max(0, Math.min(count, this.#limit - before))
    if (this.isAway || granted === left) return null
    return `${granted} of ${count} granted where ${before} of ${this.#limit} were held`
  }

  /** Takes and frees everywhere at once: there are never more than the limit. */
  async churn(random: Random): Promise<string | null> {
    const holder = random.pick(HOLDERS)
    let most = 0
    const allowed = Math.max(this.#limit, this.held(holder))
    const turns = async (): Promise<void> => {
      for (let i = random.below(4); i > 0; i -= 1) await new Promise(setImmediate)
    }
    const visit = async (): Promise<void> => {
      const { holdings, held } = random.pick(this.workers)
      await turns()
      if (!(await holdings.take(holder, this.#limit))) return
      held.set(holder, (held.get(holder) ?? 0) + 1)
      most = Math.max(most, this.held(holder))
      await turns()
      holdings.free(holder)
      held.set(holder, held.get(holder)! - 1)
    }
    await Promise.all(Array.from({ length: 3 * this.#limit }, visit))
    return most <= allowed ? null : `${most} of ${this.#limit} were held`
  }

  async #settle(): Promise<void> {
    await until('all are known', () => Promise.resolve(this.#keeper.slots.length === this.workers.length))
  }
}

for (const seed of [1, 2, 3, 4, 5, 6])
  t.test(`seed ${seed}`, async t => {
    const random = new Random(seed)
    const limit = [1, 2, 5, 20, 50, 120][seed - 1]!
    const { keeper, path } = await startKeeper(t)
    const fleet = new Fleet(t, path, keeper, limit)
    for (let slot = 1; slot <= WORKERS; slot += 1) await fleet.start(slot)
    const wrong: string[] = []
    for (let step = 0; step < 120; step += 1) {
      const what = random.below(20)
      if (what === 0) await fleet.kill(random)
      else if (what === 1) await fleet.restart(random)
      else {
        const found = what < 5 ? await fleet.churn(random) : await fleet.race(random)
        if (found !== null) wrong.push(`step ${step}: ${found}`)
      }
    }
    t.strictSame(wrong, [])
  })
