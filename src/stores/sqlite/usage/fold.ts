/** Statements that take counters over into the ledger. */
import type { DatabaseSync, StatementSync } from '../driver.ts'
import { noLatency } from '../../../ports/latency.ts'
import { STEP } from '../../../ports/ledger.ts'
import type { Latency } from '../../../ports/latency.ts'
import { inTransaction } from '../transaction.ts'
import { USAGE_SUMS } from './columns.ts'
import type { UsageCounter } from './counters.ts'
import { daysUntil } from './days.ts'

/** Of a counter without calls that upstreams were waited for. */
const NO_LATENCY: Latency = noLatency()

const TOTALS = `INSERT INTO totals VALUES (?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET calls = calls + excluded.calls, requests = requests + excluded.requests`

/** Adds requests to a quota window of an account. */
export const ADD_TO_WINDOW = `INSERT INTO windows VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET requests = requests + excluded.requests RETURNING requests`

/** Before which hour some hours are in days already, and whether one of an endpoint is. */
const DAYS_BEFORE = 'SELECT max(until, next) AS hour FROM day_progress'
const IN_DAY = `SELECT ?2 < ${daysUntil('?1')} AS yes FROM day_progress`

const FOLDED = 'UPDATE folded SET place = ?1 WHERE place <> ?1'
const TAKEN = 'SELECT place FROM taken WHERE file = ?'
const TAKE = 'INSERT INTO taken VALUES (?1, ?2) ON CONFLICT DO UPDATE SET place = ?2'

/** What the ledger takes over of a counter. */
export type Usage = Omit<UsageCounter, 'place' | 'named' | 'waitingCalls' | 'waitingRequests'>

/** What an account has used of a quota window by now. */
export interface Spent {
  readonly account: string
  /** Unix seconds. */
  readonly start: number
  readonly requests: number
}

/** Takes usage over into the ledger. */
export interface Fold {
  /** The quota windows that were added to since this was last asked. */
  spent(): readonly Spent[]
  /**
   * Adds the first of `counters`, which are in the order of their places, for about `ms` milliseconds, at least one, and says in the same
   * transaction that the journal's charges up to the last one's place are in the tables. Returns how many it took.
   */
  own(counters: readonly UsageCounter[], ms: number): number
  /** The same of the journal that another process has left: whoever takes it over goes on behind the place that the transaction says. */
  left(file: string, counters: readonly UsageCounter[], ms: number): number
  /**
   * Adds what another process's journal holds, up to a place, and says so in the same transaction: a batch that is sent again, as its sender did
   * not hear that it was taken, changes nothing. Returns whether it was new.
   */
  others(file: string, place: number, usage: readonly Usage[]): boolean
}

/** Its statements. `get` executes as `run` does, without an object that says what changed: a third of the time of a statement. */
export function makeFold(database: DatabaseSync): Fold {
  const addToHour = makeAdd(database, 'hour')
  const addToDay = makeAdd(database, 'day')
  const totals = database.prepare(TOTALS)
  const windows = database.prepare(ADD_TO_WINDOW)
  const daysBefore = database.prepare(DAYS_BEFORE)
  const inDay = database.prepare(IN_DAY)
  const folded = database.prepare(FOLDED)
  const taken = database.prepare(TAKEN)
  const take = database.prepare(TAKE)
  let spent: Spent[] = []
  const write = (counters: readonly Usage[], isEnough: (count: number) => boolean): number => {
    const before = (daysBefore.get() as { readonly hour: number }).hour
    let count = 0
    while (count < counters.length && !isEnough(count)) {
      const counter = counters[count++]!
      const { endpoint, hour } = counter
      addToHour(counter, hour)
      // It is late: its day has been made of its hours.
      if (hour < before && (inDay.get(endpoint, hour) as { readonly yes: number }).yes === 1)
        addToDay(counter, hour - (hour % STEP.day))
    }
    return count
  }
  const writeSums = (counters: readonly Usage[]): void => {
    const sums = sumUp(counters)
    for (const { endpoint, account, calls, requests } of sums.totals.values())
      totals.get(endpoint, account, calls, requests)
    for (const [account, starts] of sums.windows)
      for (const [start, added] of starts) {
        const { requests } = windows.get(account, start, added) as { requests: number }
        spent.push({ account, start, requests })
      }
  }
  const first = (counters: readonly UsageCounter[], ms: number, taken: (place: number) => void): number =>
    inTransaction(database, () => {
      const end = performance.now() + ms
      const count = write(counters, done => done > 0 && performance.now() >= end)
      writeSums(counters.slice(0, count))
      taken(counters[count - 1]!.place)
      return count
    })
  return {
    spent: () => {
      const all = spent
      spent = []
      return all
    },
    own: (counters, ms) => first(counters, ms, place => void folded.get(place)),
    left: (file, counters, ms) => first(counters, ms, place => void take.get(file, place)),
    others: (file, place, counters) =>
      inTransaction(database, () => {
        const known = taken.get(file) as { readonly place: number } | undefined
        if (known !== undefined && known.place >= place) return false
        write(counters, () => false)
        writeSums(counters)
        take.get(file, place)
        return true
      }),
  }
}

/** Adds what a counter holds to the rows of an hour or of a day, which does not say whose it was and on which plan. */
function makeAdd(database: DatabaseSync, step: keyof typeof STEP): (counter: Usage, hour: number) => void {
  const suffix = step === 'day' ? '_day' : ''
  const insert = (table: string, columns: readonly string[], sums: readonly string[]): StatementSync => {
    const all = ['endpoint', 'hour', 'method', 'network', ...columns, ...sums]
    return database.prepare(`INSERT INTO ${table}${suffix} (${all.join(', ')}) VALUES (${all.map(() => '?').join(', ')})
      ON CONFLICT DO UPDATE SET ${sums.map(sum => `${sum} = ${sum} + excluded.${sum}`).join(', ')}`)
  }
  const isDay = step === 'day'
  const usage = insert('usage', isDay ? [] : ['account', 'plan'], USAGE_SUMS)
  const refused = insert('refusals', isDay ? ['reason'] : ['reason', 'account'], ['count'])
  return (counter, hour) => {
    const { endpoint, method, account, network, calls, requests, errors, refusals, bytesOut } = counter
    const ms = Math.round(counter.upstreamMs)
    const sums = [calls, requests, errors, refusals, bytesOut, ms, ...(counter.latency ?? NO_LATENCY)]
    usage.get(endpoint, hour, method, network, ...(isDay ? [] : [account, counter.plan]), ...sums)
    if (counter.reasons !== null)
      for (const [reason, count] of counter.reasons)
        refused.get(endpoint, hour, method, network, reason, ...(isDay ? [] : [account]), count)
  }
}

interface Total {
  readonly endpoint: string
  readonly account: string
  calls: number
  requests: number
}

/** What came to each endpoint, and to each account's windows: one statement for all their counters. */
function sumUp(counters: readonly Usage[]): {
  readonly totals: ReadonlyMap<string, Total>
  readonly windows: ReadonlyMap<string, ReadonlyMap<number, number>>
} {
  const totals = new Map<string, Total>()
  const windows = new Map<string, Map<number, number>>()
  for (const { endpoint, account, window, calls, requests } of counters) {
    // Also without charges: the totals are where an account's endpoints are found.
    let total = totals.get(endpoint)
    if (total === undefined) totals.set(endpoint, (total = { endpoint, account, calls: 0, requests: 0 }))
    total.calls += calls
    total.requests += requests
    if (window === 0 || (calls === 0 && requests === 0)) continue
    let starts = windows.get(account)
    if (starts === undefined) windows.set(account, (starts = new Map<number, number>()))
    starts.set(window, (starts.get(window) ?? 0) + requests)
  }
  return { totals, windows }
}
