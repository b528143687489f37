/** Reads a journal back behind the end of its process: what it holds that the tables do not. */
import type { DatabaseSync } from '../../driver.ts'
import { newCounter } from '../counters.ts'
import type { UsageCounter } from '../counters.ts'

/** Records that are read at a time. */
const PAGE = 50

/** What was found. */
export interface Unfolded {
  /** In the order of their places. */
  readonly counters: readonly UsageCounter[]
  /** The last place that was given (commit-batch.ts). */
  readonly lastPlace: number
}

/** As `entryOf` writes it: what is behind `requests` is in the first entry of a place. */
type Entry = [place: number, calls: number, requests: number, ...key: unknown[]]
const NAMELESS = 3

/**
 * Adds up the charges of all places behind `from` and behind what is folded, in slices of about `ms` milliseconds: it yields after each. `from` is
 * null where it is not known: a place that no record names was taken over, and its first record dropped. SQL, which reads the few charges of a
 * journal in use for its views, takes ten times as long for one that is full.
 */
export function* unfolded(
  database: DatabaseSync,
  ms: number,
  from: number | null = 0,
): Generator<void, Unfolded> {
  const { place } = database.prepare('SELECT place FROM folded').get() as { place: number }
  const page = database.prepare(`SELECT seq, entries FROM journal WHERE seq > ? ORDER BY seq LIMIT ${PAGE}`)
  const behind = Math.max(from ?? 0, place)
  const counters = new Map<number, UsageCounter>()
  let lastPlace = place
  let end = performance.now() + ms
  for (let seq = Number.MIN_SAFE_INTEGER; ;) {
    const records = page.all(seq) as { readonly seq: number; readonly entries: string }[]
    if (records.length === 0) break
    for (const record of records) {
      for (const entry of JSON.parse(record.entries) as Entry[]) {
        lastPlace = Math.max(lastPlace, entry[0])
        if (entry[0] > behind && !add(counters, entry) && from !== null)
          throw new Error(`the journal does not say whose its place ${entry[0]} is`)
      }
      seq = record.seq
      if (performance.now() < end) continue
      yield
      end = performance.now() + ms
    }
  }
  return { counters: [...counters.values()].sort((a, b) => a.place - b.place), lastPlace }
}

/** The same at once, of one moment. */
export function unfoldedNow(database: DatabaseSync, from: number | null = 0): Unfolded {
  database.exec('BEGIN')
  try {
    const reading = unfolded(database, Infinity, from)
    for (;;) {
      const { done, value } = reading.next()
      if (done === true) return value
    }
  } finally {
    database.exec('COMMIT')
  }
}

/** Whether it is known whose place it is. */
function add(counters: Map<number, UsageCounter>, entry: Entry): boolean {
  const [place, calls, requests] = entry
  let counter = counters.get(place)
  if (counter === undefined) {
    if (entry.length === NAMELESS) return false
    counters.set(place, (counter = counterOf(entry)))
  }
  counter.calls += calls
  counter.requests += requests
  return true
}

function counterOf([place, , , ...key]: Entry): UsageCounter {
  const [account, endpoint, network, method, hour, window, plan = ''] = key as [
    ...[account: string, endpoint: string, network: string, method: string, hour: number, window: number],
    plan?: string,
  ]
  const counter = newCounter({ account, endpoint, network, method, hour, window, plan })
  counter.place = place
  return counter
}
