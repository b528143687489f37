/** What the journal says: each counter named once, and no charge without an owner. */
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import type { UsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { Ledger } from '../../../src/stores/sqlite/usage/ledger.ts'
import { openUsageReader } from '../../../src/stores/sqlite/usage/reader.ts'
import type { UsageRow } from '../../../src/ports/ledger.ts'
import { closeToWrites, eventsTo } from './parts.ts'

const HOUR = 1_800_000_000
const owners = ['a', 'b'].map(id => ({
  account: { id: `acc_${id}`, plan: 'free' },
  endpoint: { id: `ep_${id}`, network: 'eth' },
}))

interface Open {
  readonly database: UsageDatabase
  readonly ledger: Ledger
  readonly dir: string
  readonly failures: Error[]
  /** Charges one call of `requests` to owner 0 or 1, without a commit. */
  readonly charge: (owner: number, method: string, requests: number) => void
  /** What a reader in another process sees of the files as they are. */
  readonly seen: () => readonly string[]
  /** The records that are in the journal. */
  readonly records: () => readonly unknown[]
}

function open(t: Test): Open {
  const dir = t.testdir({ live: {} })
  const live = join(dir, 'live')
  const failures: Error[] = []
  const database = openUsageDatabase(live)
  const ledger = new Ledger(
    database,
    eventsTo(error => failures.push(error)),
  )
  t.teardown(() => {
    ledger.close()
  })
  let copies = 0
  const seen = (): string[] => {
    const copy = join(dir, `copy${(copies += 1)}`)
    cpSync(live, copy, { recursive: true })
    return read(copy)
  }
  return {
    database,
    ledger,
    dir: live,
    failures,
    seen,
    charge: (owner, method, requests) => {
      ledger.charging.charge(owners[owner]!, method, requests, HOUR, HOUR * 1000)
    },
    records: () =>
      database.database
        .prepare('SELECT entries FROM journal ORDER BY seq')
        .all()
        .map(row => JSON.parse((row as { entries: string }).entries) as unknown),
  }
}

/** The ledger and the quota windows in a directory, a line each. */
function read(dir: string): string[] {
  const reader = openUsageReader(dir)
  const rows = [...reader.rows({ from: 0, to: HOUR + 3600, by: 'hour' })]
  reader.close()
  const line = ({ accountId, endpointId, network, method, time, calls, requests }: UsageRow): string =>
    [accountId, endpointId, network, method, time, calls, requests].join(' ')
  return rows.map(line)
}

t.test('a record names a counter once between two folds', t => {
  const { ledger, charge, records, seen } = open(t)
  const named = (n: number, calls: number, requests: number, id: string, method: string): unknown[] => [
    n,
    calls,
    requests,
    `acc_${id}`,
    `ep_${id}`,
    'eth',
    method,
    HOUR,
    HOUR,
    'free',
  ]
  charge(0, 'eth_call', 2)
  charge(0, 'eth_call', 2)
  charge(1, 'eth_call', 3)
  ledger.totals('')
  charge(1, 'eth_call', 3)
  charge(1, 'eth_getLogs', 75)
  ledger.totals('')
  t.strictSame(records(), [
    [named(1, 2, 4, 'a', 'eth_call'), named(2, 1, 3, 'b', 'eth_call')],
    [[2, 1, 3], named(3, 1, 75, 'b', 'eth_getLogs')],
  ])
  const sums = [
    `acc_a ep_a eth eth_call ${HOUR} 2 4`,
    `acc_b ep_b eth eth_call ${HOUR} 2 6`,
    `acc_b ep_b eth eth_getLogs ${HOUR} 1 75`,
  ]
  t.strictSame(seen(), sums, 'another process sees it before any fold')
  t.ok(ledger.fold())
  t.strictSame([records(), seen()], [[], sums], 'and the same behind it')
  charge(1, 'eth_call', 3)
  ledger.totals('')
  t.strictSame(records(), [[named(1, 1, 3, 'b', 'eth_call')]], 'then places are given anew')
  t.end()
})

t.test('a counter that a failed commit was to name is named by the next', t => {
  const { database, ledger, failures, charge, seen } = open(t)
  charge(0, 'eth_call', 2)
  ledger.totals('')
  const writable = closeToWrites(database)
  charge(0, 'eth_call', 2)
  charge(1, 'eth_call', 3)
  ledger.totals('')
  t.equal(failures.length, 1)
  writable()
  charge(0, 'eth_call', 2)
  charge(1, 'eth_call', 3)
  ledger.totals('')
  t.strictSame(seen(), [`acc_a ep_a eth eth_call ${HOUR} 2 4`, `acc_b ep_b eth eth_call ${HOUR} 1 3`])
  t.end()
})

t.test('what a failed commit was to give back of an unnamed counter has its owner in the next', t => {
  const { database, ledger, failures, seen } = open(t)
  const charge = () => ledger.charging.charge(owners[0]!, 'eth_call', 2, HOUR, HOUR * 1000)
  const [first] = [charge(), charge()]
  t.ok(ledger.fold(), 'the journal names nobody')
  const writable = closeToWrites(database)
  void first.giveBack()
  ledger.totals('')
  t.equal(failures.length, 1)
  writable()
  ledger.totals('')
  t.strictSame(seen(), [`acc_a ep_a eth eth_call ${HOUR} 1 2`])
  t.end()
})
