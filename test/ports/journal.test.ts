/** What every implementation of the port Journal keeps to: the one on SQLite, and a plain one in memory. */
import t from 'tap'
import type { Charge, Journal } from '../../src/ports/journal.ts'
import { closeToWrites, NOW, open, payer, reading } from '../stores/usage/parts.ts'
import { until } from '../support/until.ts'
import { PlainJournal } from '../support/plain-journal.ts'
import type { Recorded } from '../support/plain-journal.ts'

/** A journal, what it has recorded, and how to let it take nothing. */
interface Opened {
  readonly journal: Journal
  readonly recorded: () => Readonly<Record<string, Recorded>>
  /** Returns what ends it. */
  readonly block: () => () => void
}

const implementations: Readonly<Record<string, (dir: string) => Opened>> = {
  sqlite: dir => {
    const { database, ledger } = open(dir)
    return {
      journal: ledger.charging,
      recorded: () => {
        ledger.fold()
        const rows = reading(dir).rows({ from: 0, to: 2 ** 40, by: 'day' })
        return Object.fromEntries(
          rows.map(({ endpointId, method, calls, requests, errors, refusals, bytesOut }) => [
            `${endpointId} ${method}`,
            { calls, requests, errors, refusals, bytesOut },
          ]),
        )
      },
      block: () => closeToWrites(database),
    }
  },
  plain: () => {
    const journal = new PlainJournal()
    return {
      journal,
      recorded: () => Object.fromEntries(journal.recorded),
      block: () => {
        journal.isOpen = false
        return () => {
          journal.isOpen = true
        }
      },
    }
  },
}

const nothing = { calls: 0, requests: 0, errors: 0, refusals: 0, bytesOut: 0 }
const begin = (journal: Journal, units = 3): Charge => journal.charge(payer, 'm', units, 0, NOW)

for (const [name, make] of Object.entries(implementations)) {
  t.test(`${name}: what was committed is recorded, with how the call went`, async t => {
    const { journal, recorded } = make(t.testdir())
    const [first, second] = [begin(journal), begin(journal, 20)]
    t.strictSame([first.units, second.units], [3, 20])
    t.strictSame(await Promise.all([first.commit(), second.commit()]), [true, true])
    first.settle({ error: true, bytesOut: 10, upstreamMs: 1 })
    second.settle({ error: false, bytesOut: 5, upstreamMs: 1 })
    t.equal(first.isLost, false)
    t.strictSame(recorded(), { 'ep_1 m': { ...nothing, calls: 2, requests: 23, errors: 1, bytesOut: 15 } })
  })

  t.test(`${name}: charges that are committed together wait for one promise`, async t => {
    const { journal } = make(t.testdir())
    const [first, second] = [begin(journal), begin(journal)]
    t.equal(first.commit(), second.commit())
    t.equal(await first.commit(), true)
    t.equal(journal.failure, null)
  })

  t.test(`${name}: what is given back was never charged, before its commit and after`, async t => {
    const { journal, recorded } = make(t.testdir())
    const [before, after, kept] = [begin(journal), begin(journal), begin(journal, 1)]
    await before.giveBack()
    t.equal(await after.commit(), true)
    await after.giveBack()
    t.equal(await kept.commit(), true)
    t.strictSame(recorded(), { 'ep_1 m': { ...nothing, calls: 1, requests: 1 } })
  })

  t.test(`${name}: a charge that could not be written is lost, and said to be`, async t => {
    const { journal, recorded, block } = make(t.testdir())
    const unblock = block()
    const lost = begin(journal)
    t.equal(await lost.commit(), false)
    t.equal(lost.isLost, true)
    t.ok(journal.failure instanceof Error)
    await lost.giveBack()
    unblock()
    await until('it was tried again', () => Promise.resolve(journal.failure === null))
    const kept = begin(journal, 1)
    t.equal(await kept.commit(), true)
    t.strictSame(recorded(), { 'ep_1 m': { ...nothing, calls: 1, requests: 1 } })
  })

  t.test(`${name}: refusals are counted, and cost nothing`, async t => {
    const { journal, recorded } = make(t.testdir())
    journal.refused(payer, 'm', 'plan_required', NOW)
    journal.refused(payer, 'm', 'rate_limited', NOW)
    t.equal(await begin(journal).commit(), true)
    t.strictSame(recorded(), { 'ep_1 m': { ...nothing, calls: 1, requests: 3, refusals: 2 } })
  })
}
