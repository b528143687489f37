/**
 * Taking over the journal that a killed worker has left full, `MIB` of it: how long it takes, and for how long it holds the event loop of the keeper at a
 * time. `ENTRIES` charges are in a record.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openUsageDatabase } from '../src/stores/sqlite/usage/database.ts'
import { LeftJournals } from '../src/stores/sqlite/usage/journals/left.ts'
import { fillJournal } from '../test/support/full-journal.ts'

const MIB = Number(process.env['MIB'] ?? 256)
const ENTRIES = Number(process.env['ENTRIES'] ?? 20)
const COUNTERS = 20_000

const dir = mkdtempSync(join(tmpdir(), 'tollgate-left-'))
try {
  const ledger = openUsageDatabase(dir)
  const file = 'journal-1-00000000000000aa.db'
  openUsageDatabase(dir, file).close()
  const calls = fillJournal(join(dir, file), { mib: MIB, entries: ENTRIES, counters: COUNTERS })
  const size = statSync(join(dir, file)).size / 1024 ** 2
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  const left = new LeftJournals(ledger, dir, (_, error) => {
    throw error
  })
  const begin = performance.now()
  await left.look()
  const seconds = (performance.now() - begin) / 1000
  await new Promise(resolve => setTimeout(resolve, 20))
  const sum = ledger.database.prepare('SELECT sum(calls) AS calls FROM usage').get() as { calls: number }
  if (sum.calls !== calls) throw new Error(`${sum.calls} of ${calls} calls are in the ledger`)
  console.log(
    `${size.toFixed(0)} MiB, ${calls} calls on ${COUNTERS} counters: ${seconds.toFixed(1)} s, longest block of the loop ${(delay.max / 1e6).toFixed(1)} ms`,
  )
  await left.close()
  ledger.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}
