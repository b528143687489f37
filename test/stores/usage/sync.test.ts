import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import t from 'tap'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { HandedOver } from '../../../src/stores/sqlite/usage/journals/hand-over.ts'
import { eventsTo, NOW, open, payer } from './parts.ts'

const FILE = 'journal-1-00000000000000aa.db'

t.test(
  'what a worker hands over survives a power cut a second later, as a charge of its own does',
  async t => {
    const { fdatasync } = fs
    let syncs = 0
    const synced = new Promise<void>(resolve => {
      fs.fdatasync = ((fd: number, done: () => void) => {
        syncs += 1
        fdatasync(fd, () => {
          done()
          resolve()
        })
      }) as typeof fdatasync
    })
    syncBuiltinESMExports()
    // The ledger's own timer keeps no process alive.
    const alive = setInterval(() => undefined, 1000)
    const dir = t.testdir({})
    const { database, ledger } = open(dir)
    const journal = openUsageDatabase(dir, FILE)
    const worker = new HandedOver(
      ...([journal, FILE, eventsTo(error => t.error(error))] as const),
      async batch => Promise.resolve(void database.take(batch.file, batch.place, batch.usage)),
    )
    t.teardown(async () => {
      await worker.close()
      ledger.close()
      clearInterval(alive)
      fs.fdatasync = fdatasync
      syncBuiltinESMExports()
    })
    await worker.charging.charge(payer, 'eth_call', 3, 0, NOW).commit()
    t.ok(await worker.handOver())
    await synced
    t.equal(syncs, 1)
    database.sync()
    t.equal(syncs, 1, 'nothing new, nothing to sync')
  },
)
