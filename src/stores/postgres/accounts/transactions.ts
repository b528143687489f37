/**
 * The door through which accounts are written where PostgreSQL has them. The work runs on the replica, under a lock that keeps all other writers of all
 * gateways out, so that what it reads is what PostgreSQL has; what it has changed is written there, and then taken in here like what others write.
 */
import { randomUUID } from 'node:crypto'
import { StoreUnavailable } from '../../../ports/store-unavailable.ts'
import type { Transactions } from '../../sqlite/accounts/transactions.ts'
import { whenFree } from '../../sqlite/patience.ts'
import type { Postgres, Query } from '../postgres.ts'
import type { Capture, Captured } from './capture.ts'
import { ChangesTogether, type Change } from './changes-together.ts'
import type { Puller } from './pull.ts'
import type { Replica, ReplicaState, Step, Target } from './replica.ts'
import { write } from './write.ts'

/** Changes that are taken in while the lock is held; where more are missing they are taken in before. */
const SHORT = 100
/** Times that other writers may be quicker. */
const ATTEMPTS = 50
/** Changes that are one transaction at most: each holds the event loop while it is tried out. */
const TOGETHER = 20
/** For how many times what one change may take it waits behind others that are written. */
const PATIENCE = 10

/** Ends a transaction without a commit. */
class RollBack extends Error {}

/** What is about to be committed. */
interface Attempt<T> {
  readonly captured: Captured<T>
  /** What the replica was a copy of. */
  readonly from: ReplicaState
  readonly target: Target
}

/** What it works with; `timeout` is how long a change may take, in milliseconds. */
export interface SharedParts {
  readonly postgres: Postgres
  readonly replica: Replica
  readonly capture: Capture
  readonly puller: Puller
  readonly timeout: number
}

/** A change in its place of the queue. */
interface Queued extends Change {
  readonly askedAt: number
}

/** The write transactions of one process, in the order they were asked for. Those that have come meanwhile are one transaction of PostgreSQL. */
export class SharedTransactions implements Transactions {
  readonly #parts: SharedParts
  #queue: Queued[] = []
  #isRunning = false
  /** When PostgreSQL last did what a change asked of it. */
  #servedAt = -Infinity

  constructor(parts: SharedParts) {
    this.#parts = parts
  }

  run<T>(work: () => T, committed: () => void = () => undefined): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({ work, committed, askedAt: performance.now(), resolve: resolve as never, reject })
      if (!this.#isRunning) void this.#runAll()
    })
  }

  async #runAll(): Promise<void> {
    this.#isRunning = true
    while (this.#queue.length > 0) await this.#runSome(this.#queue.splice(0, TOGETHER))
    this.#isRunning = false
  }

  /** Never rejects. */
  async #runSome(some: readonly Queued[]): Promise<void> {
    const [{ work, committed, askedAt, resolve }] = some as readonly [Queued]
    try {
      if (some.length === 1) resolve(await this.#inItsTurn(work, committed, askedAt))
      else {
        const all = new ChangesTogether(some, this.#parts.capture)
        await this.#inItsTurn(all.work, all.committed, askedAt)
        all.settle()
      }
    } catch (error) {
      // What PostgreSQL has against one of them is no matter of the others.
      if (some.length > 1 && !(error instanceof StoreUnavailable))
        for (const one of some) await this.#runSome([one])
      else for (const { reject } of some) reject(error)
    }
  }

  /** A crowd of changes is not a PostgreSQL that is away: who waits behind one that was written has the whole time of a change from then on. */
  async #inItsTurn<T>(work: () => T, committed: () => void, askedAt: number): Promise<T> {
    const { timeout } = this.#parts
    const from = Math.min(Math.max(askedAt, this.#servedAt), askedAt + (PATIENCE - 1) * timeout)
    const result = await this.#transact(work, committed, from + timeout)
    this.#servedAt = performance.now()
    return result
  }

  async #transact<T>(work: () => T, committed: () => void, deadline: number): Promise<T> {
    const { puller } = this.#parts
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const made = await puller.apart(() => this.#make(work, committed, deadline), deadline)
      if (made === 'behind') {
        await puller.pull(deadline)
        continue
      }
      if (!made.isTakenIn) await this.#catchUp(made.counted, committed)
      return made.result
    }
    throw new StoreUnavailable('too many others write accounts at the same time')
  }

  /** One attempt; and whether the replica has what it has written. */
  async #make<T>(
    work: () => T,
    committed: () => void,
    deadline: number,
  ): Promise<(Captured<T> & { readonly isTakenIn: boolean }) | 'behind'> {
    const made = await this.#attempt(work, deadline)
    if (made === 'behind') return made
    const { captured, from, target } = made
    const { changes, counted } = captured
    if (changes.length === 0) {
      committed()
      return { ...captured, isTakenIn: true }
    }
    const taking = this.#parts.replica.takeOwn(from, stepsOf(changes), target, counted, committed)
    return { ...captured, isTakenIn: await taking.catch(() => false) }
  }

  /** The change, written to PostgreSQL or without one; or that the replica has to come closer first. */
  async #attempt<T>(work: () => T, deadline: number): Promise<Attempt<T> | 'behind'> {
    const { postgres } = this.#parts
    const made: { attempt?: Attempt<T> } = {}
    try {
      await postgres.transaction(
        async query => {
          const [meta] = await query<Target>(
            'UPDATE meta SET change = change + 1 RETURNING change, write::text AS write, audit',
          )
          if (meta === undefined)
            throw new Error('the tables of accounts in PostgreSQL have lost their first row')
          const last = { ...meta, change: meta.change - 1 }
          if (!(await this.#comesUpTo(query, last))) throw new RollBack()
          const attempt = await this.#tryOut(work, last, deadline)
          if (attempt === null) throw new RollBack()
          made.attempt = attempt
          if (attempt.captured.changes.length === 0) throw new RollBack()
          await write(query, attempt.captured.changes, attempt.target)
        },
        { deadline },
      )
    } catch (error) {
      if (error instanceof RollBack) return made.attempt ?? 'behind'
      if (!(error instanceof StoreUnavailable && error.isUnknown && made.attempt !== undefined)) throw error
      await this.#confirm(made.attempt.target, error)
    }
    return made.attempt!
  }

  /** Whether the replica is a copy of the last change, or can be at once. */
  async #comesUpTo(query: Query, last: Target): Promise<boolean> {
    const { replica, puller } = this.#parts
    const state = replica.state()
    if (isAt(state, last)) return true
    if (state === null || state.change >= last.change || state.change < last.change - SHORT) return false
    return puller.follow(query, last)
  }

  async #tryOut<T>(work: () => T, last: Target, deadline: number): Promise<Attempt<T> | null> {
    const { replica, capture } = this.#parts
    const seen: { from?: ReplicaState | null } = {}
    const isExact = (): boolean => isAt((seen.from = replica.state()), last)
    const captured = await whenFree(() => capture.tryOut(work, isExact), deadline)
    if (captured === null) return null
    return {
      captured,
      from: seen.from!,
      target: { change: last.change + 1, write: randomUUID(), audit: last.audit },
    }
  }

  /** The connection was lost while the change was committed: whether it was. Who holds the lock of writers knows that nothing of it is still to come. */
  async #confirm({ change, write: id }: Target, lost: StoreUnavailable): Promise<void> {
    const { postgres, timeout } = this.#parts
    let found: readonly unknown[]
    try {
      found = await postgres.transaction(
        async query => {
          await query('SELECT 1 FROM meta FOR UPDATE')
          return query('SELECT 1 FROM written WHERE change = $1 AND id = $2::uuid', [change, id])
        },
        { deadline: performance.now() + timeout },
      )
    } catch (error) {
      const message = 'PostgreSQL was lost while the change was written: whether it was made is not known'
      throw new StoreUnavailable(message, { isUnknown: true, cause: error })
    }
    if (found.length === 0) throw new StoreUnavailable(lost.message, { cause: lost })
  }

  /** It is written, whatever happens here: another process is taking it in, perhaps with what came after, or the next pull does. */
  async #catchUp(counted: number, committed: () => void): Promise<void> {
    const { replica, puller } = this.#parts
    try {
      await puller.pull()
      await replica.count(counted)
    } catch {
      // The next pull says what is wrong.
    }
    committed()
  }
}

function isAt(state: ReplicaState | null, { change, write: id }: Target): boolean {
  return state !== null && state.change === change && state.write === id
}

function stepsOf(changes: Captured<unknown>['changes']): Step[] {
  return [
    ...changes.flatMap(({ table, removed }) => removed.map(key => ({ table, removed: key }))),
    ...changes.flatMap(({ table, rows }) =>
      rows.map(row => ({ table, values: table.columns.map(({ name }) => row[name] ?? null) })),
    ),
  ]
}
