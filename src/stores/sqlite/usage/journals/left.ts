/** Journals that processes have left behind, killed before the ledger had taken over what is in them. */
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { newCounter } from '../counters.ts'
import { openUsageDatabase } from '../database.ts'
import type { UsageDatabase } from '../database.ts'

/** `journal-<worker>-<random>.db`: a name is never used again. */
const NAME = /^journal-\d+-[0-9a-f]{16}\.db$/

/** The names of the journals beside a ledger. */
export function journalsIn(dataDir: string): string[] {
  return readdirSync(dataDir)
    .filter(name => NAME.test(name))
    .sort()
}

/** Takes over what a journal holds that nobody writes any more, and removes it. Throws one sentence where it cannot be read. */
export function takeOverLeft(ledger: UsageDatabase, dataDir: string, file: string): void {
  const left = openUsageDatabase(dataDir, file)
  try {
    const { charges, lastPlace } = left.unfolded()
    // Records that were taken over may still be in it.
    const from = ledger.taken(file)
    const usage = charges
      .filter(({ place }) => place > from)
      .map(({ calls, requests, ...key }) => ({ ...newCounter(key), calls, requests }))
    if (usage.length > 0) ledger.take(file, lastPlace, usage)
  } finally {
    left.close()
  }
  for (const ending of ['', '-wal', '-shm']) rmSync(join(dataDir, `${file}${ending}`), { force: true })
  ledger.forget(file)
}
