/** Brings a replica up to date. */
import { setTimeout as pause } from 'node:timers/promises'
import { orAfter } from '../../../net/or-after.ts'
import { StoreUnavailable } from '../../../ports/store-unavailable.ts'
import { NOT_OURS } from '../postgres.ts'
import type { Postgres, Query } from '../postgres.ts'
import type { Replica, ReplicaState, Step, Target } from './replica.ts'
import { hexOf } from './replica.ts'
import { fromJson, keyOf, type Table, type Value } from './tables.ts'

/** Rows that are asked for at a time, where calls are served meanwhile and at first, and rows that are taken in together. */
const FETCHED = 1_000
const FIRST_FETCHED = 5_000
const TOGETHER = 5_000
/** How old the time of the last pull in the file may get while nothing changes, in milliseconds. */
const TOUCHED_EVERY = 2_000
/** Pulls in a row that other processes may overtake, and milliseconds between two of them at most. */
const ATTEMPTS = 20
const LONGEST_PAUSE = 50

interface Fetched {
  readonly tbl: number
  readonly row: Readonly<Record<string, unknown>>
}

/** Pulls what is new; one at a time in this process. */
export class Puller {
  readonly #postgres: Postgres
  readonly #replica: Replica
  readonly #taken: () => void
  #running: Promise<void> | null = null
  /** What no pull may disturb. */
  #apart: Promise<unknown> = Promise.resolve()

  /** `taken` is called when what keys stand for has changed. */
  constructor(postgres: Postgres, replica: Replica, taken: () => void) {
    this.#postgres = postgres
    this.#replica = replica
    this.#taken = taken
  }

  /** Resolves once the replica has what PostgreSQL had when this was asked, or later. */
  async pull(deadline = Infinity): Promise<void> {
    // What runs already may have begun to look before.
    if (this.#running !== null) await this.#running.catch(() => undefined)
    this.#running ??= this.#apart
      .then(() => this.#pull(deadline))
      .finally(() => {
        this.#running = null
      })
    return this.#running
  }

  /**
   * Does `work`, which takes in something itself, between two pulls of this process: each would have the other begin again. It waits for a pull until
   * `deadline` (performance.now()), and pulls wait for it.
   */
  async apart<T>(work: () => Promise<T>, deadline: number): Promise<T> {
    if (this.#running !== null)
      await orAfter(
        this.#running.catch(() => undefined),
        deadline - performance.now(),
      )
    const doing = work()
    this.#apart = doing.catch(() => undefined)
    return doing
  }

  /**
   * Takes in the changes up to `target` on a connection that holds the lock of writers. False when the replica is not a copy of what this database was, or
   * another process takes in something at the same time.
   */
  async follow(query: Query, target: Target): Promise<boolean> {
    const from = await this.#replica.claim()
    return (await isOurs(query, from)) && this.#takeChanged(query, from, target)
  }

  async #pull(deadline: number): Promise<void> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const state = this.#replica.state()
      const [now] = await this.#postgres.query<Target>('SELECT change, write::text AS write FROM meta')
      if (state !== null && state.change === now?.change && state.write === now.write) {
        const age = Date.now() - state.pulledAt
        if (age < 0 || age >= TOUCHED_EVERY) await this.#replica.touch()
        return
      }
      const from = await this.#replica.claim()
      if (
        await this.#postgres.transaction(query => this.#takeNew(query, from), { isSnapshot: true, deadline })
      )
        return
      // Processes that begin again at the same moment would overtake each other for ever.
      await pause(Math.random() * Math.min(LONGEST_PAUSE, 2 ** attempt))
    }
    throw new StoreUnavailable('other processes on this machine keep the replica of accounts busy')
  }

  async #takeNew(query: Query, from: ReplicaState): Promise<boolean> {
    const [target] = await query<Target>('SELECT change, write::text AS write, audit FROM meta')
    if (target === undefined)
      throw new Error('the tables of accounts in PostgreSQL have lost their first row')
    if (await isOurs(query, from)) return this.#takeChanged(query, from, target)
    await this.#refuseOthers(query, from, target)
    return this.#takeAll(query, from, target)
  }

  /** Refuses a database that is still being restored, or belongs to another installation: neither may replace the copy. */
  async #refuseOthers(query: Query, from: ReplicaState, target: Target): Promise<void> {
    if (!(await isOurs(query, target)))
      throw new StoreUnavailable('PostgreSQL does not hold all of its tables: it is being restored')
    if (!(await this.#hasFirstAccount(query, from))) throw new StoreUnavailable(NOT_OURS)
  }

  /** Whether a database is the one that this machine's copy is of, or may become it. Usage is written to no other. */
  async isOurs(query: Query): Promise<boolean> {
    const state = this.#replica.state()
    if (state === null || state.change < 0) return true
    return (await isOurs(query, state)) || this.#hasFirstAccount(query, state)
  }

  async #hasFirstAccount(query: Query, { change }: ReplicaState): Promise<boolean> {
    const known = change < 0 ? null : this.#replica.firstAccount()
    if (known === null) return true
    const [first] = await query<{ id: string }>('SELECT id FROM account ORDER BY seq LIMIT 1')
    return first?.id === known
  }

  /** What changed since. A key that is gone and there again is removed first. */
  async #takeChanged(query: Query, from: ReplicaState, target: Target): Promise<boolean> {
    const { tables } = this.#replica
    const gone = await query<{ tbl: string; key: string }>('SELECT tbl, key FROM removed WHERE change > $1', [
      from.change,
    ])
    let pending: Step[] = gone.flatMap(({ tbl, key }) => {
      const table = tables.find(({ name }) => name === tbl)
      return table === undefined ? [] : [{ table, removed: keyOf(table, key) }]
    })
    const parts = tables.map((table, i) => select(table, i, `WHERE changed > ${from.change}`))
    for await (const rows of fetched(query, parts.join(' UNION ALL '), FETCHED)) {
      if (pending.length >= TOGETHER) {
        if (!(await this.#replica.takeIn(from, pending, null, this.#taken))) return false
        pending = []
      }
      pending.push(...this.#steps(rows))
    }
    return this.#replica.takeIn(from, pending, target, this.#taken)
  }

  /** Everything, and an end to what is here alone: at first, and where PostgreSQL is not what it was. */
  async #takeAll(query: Query, from: ReplicaState, target: Target): Promise<boolean> {
    const gone: Step[] = []
    const most = from.change < 0 ? FIRST_FETCHED : FETCHED
    for (const [i, table] of this.#replica.tables.entries()) {
      let last: Value = null
      const end = (to: Value, there: ReadonlySet<Value>): void => {
        for (const removed of this.#replica.others(table, last, to, there)) gone.push({ table, removed })
        last = to
      }
      for await (const rows of fetched(query, select(table, i, `ORDER BY ${ordered(table)}`), most)) {
        const steps = this.#steps(rows)
        const at = table.columns.findIndex(({ name }) => name === table.key)
        const keys = steps.map(({ values }) => values[at] ?? null)
        end(keys.at(-1) ?? null, new Set(keys.map(key => (key instanceof Uint8Array ? hexOf(key) : key))))
        if (!(await this.#replica.takeIn(from, steps, null, this.#taken))) return false
      }
      end(null, new Set())
    }
    return this.#replica.takeIn(from, gone, target, this.#taken)
  }

  #steps(rows: readonly Fetched[]): (Step & { values: readonly Value[] })[] {
    return rows.map(({ tbl, row }) => {
      const table = this.#replica.tables[tbl]!
      return { table, values: fromJson(table, row) }
    })
  }
}

/** Whether this change was written to this database, which has lost none since, and is not another. */
async function isOurs(
  query: Query,
  { change, write }: Pick<ReplicaState, 'change' | 'write'>,
): Promise<boolean> {
  const found = await query('SELECT 1 FROM written WHERE change = $1 AND id::text = $2', [change, write])
  return found.length > 0
}

/** Whole rows. */
function select({ name }: Table, i: number, rest: string): string {
  return `(SELECT ${i} AS tbl, row_to_json(t) AS row FROM (SELECT * FROM ${name} ${rest}) t)`
}

/** By bytes, as SQLite orders them. */
function ordered({ key, columns }: Table): string {
  return columns.find(({ name }) => name === key)?.type === 'TEXT' ? `"${key}" COLLATE "C"` : `"${key}"`
}

async function* fetched(query: Query, sql: string, most: number): AsyncGenerator<readonly Fetched[]> {
  await query(`DECLARE pulled NO SCROLL CURSOR FOR ${sql}`)
  for (;;) {
    const rows = await query<Fetched>(`FETCH ${most} FROM pulled`)
    if (rows.length > 0) yield rows
    if (rows.length < most) break
  }
  await query('CLOSE pulled')
}
