/** Keeps how quickly networks make blocks, for the process that comes after this one. */
import type { Heads } from '../routes/heads.ts'
import type { StateFile } from '../stores/sqlite/state-file.ts'
import type { Closing } from './closing.ts'

/** How often they are written down, in milliseconds. */
const EVERY = 30_000

/** Has `heads` begin with what is kept, and keeps what is measured from now on. */
export function keepPaces(state: StateFile, heads: Heads, closing: Closing): void {
  const kept = Object.entries(state.read('paces') ?? {})
  heads.expect(
    new Map(kept.filter((pace): pace is [string, number] => typeof pace[1] === 'number' && pace[1] > 0)),
  )
  const keep = async (): Promise<void> => {
    const paces = heads.paces()
    if (paces.size > 0) await state.keep('paces', Object.fromEntries(paces))
  }
  const timer = setInterval(() => void keep(), EVERY).unref()
  closing.push(() => {
    clearInterval(timer)
    return keep()
  })
}
