/** Something that is fetched, kept and fetched again. */
import { signal } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import { sentence } from '../api/failure.ts'

/** What is known of it. A value stays while it is fetched again, also when that fails. */
export interface Known<T> {
  readonly value: T | null
  /** Why it could not be fetched; empty when it could. */
  readonly problem: string
  readonly busy: boolean
}

/** Fetches on demand and tells who looks. */
export interface Resource<T> {
  readonly known: ReadonlySignal<Known<T>>
  load(): Promise<void>
  /** Whether what is known will do for now: it is not fetched again only because time has passed. */
  isFresh(): boolean
  /** Forgets the value, such as another account's. */
  clear(): void
}

const NOTHING = { value: null, problem: '', busy: false }
const all = new Set<Resource<unknown>>()

/** A resource that `fetchValue` gets; `keep` says for how many milliseconds a value will do. */
export function resource<T>(fetchValue: () => Promise<T>, keep: (value: T) => number = () => 0): Resource<T> {
  const known = signal<Known<T>>(NOTHING)
  let turn = 0
  let fetchedAt = 0
  const load = async (): Promise<void> => {
    const mine = ++turn
    known.value = { ...known.value, busy: true }
    try {
      const value = await fetchValue()
      if (mine !== turn) return
      fetchedAt = Date.now()
      known.value = { value, problem: '', busy: false }
    } catch (error) {
      if (mine === turn) known.value = { ...known.value, problem: sentence(error), busy: false }
    }
  }
  const clear = (): void => {
    turn++
    known.value = NOTHING
  }
  const isFresh = (): boolean => {
    const { value, problem } = known.peek()
    return value !== null && problem === '' && Date.now() - fetchedAt < keep(value)
  }
  const made = { known, load, isFresh, clear }
  all.add(made)
  return made
}

/** Forgets everything, at sign-out. */
export function clearAll(): void {
  for (const one of all) one.clear()
}
