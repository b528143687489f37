/** The stores of dataDir that `serve` opens, in the order in which they must be there. */
import type { PostgresConfig } from '../config/fleet.ts'
import { openAccountsOf } from '../stores/open-accounts.ts'
import type { AccountsPlace } from '../stores/open-accounts.ts'
import type { AccountStore } from '../stores/sqlite/accounts/store.ts'
import { KeyCache } from '../stores/sqlite/accounts/cache.ts'
import type { Closing } from './closing.ts'
import { Checkpoints } from '../stores/sqlite/usage/checkpoints.ts'
import { checkLate } from '../stores/sqlite/late-check.ts'
import { openUsageDatabase } from '../stores/sqlite/usage/database.ts'
import type { UsageDatabase } from '../stores/sqlite/usage/database.ts'
import type { UsageEvents } from '../stores/sqlite/usage/events.ts'
import { Ledger } from '../stores/sqlite/usage/ledger.ts'
import { lockDataDir, refuseLocked } from '../stores/sqlite/usage/lock.ts'
import type { Ledger as UsageLedger } from '../ports/ledger.ts'
import { reasonOf } from '../observe/log.ts'
import type { Logger } from '../observe/log.ts'
import { joinFleet } from './join-fleet.ts'
import type { Fleet } from './join-fleet.ts'
import { logCheck, logAccounts } from './log.ts'
import { SumThreads, threadOn } from '../stores/sqlite/usage/sums/threads.ts'

/** How often changes that other processes made to accounts are looked for, and where the file is, in milliseconds. */
const POLL_ACCOUNTS = 250
/** How often endpoints that were used for the first time in an hour are written down, in milliseconds. */
const RECORD_USE = 5_000

/** The open stores. */
export interface Stores {
  readonly accounts: AccountStore
  readonly keys: KeyCache
  readonly database: UsageDatabase
  readonly ledger: Ledger
  readonly usage: UsageLedger
  /** What the gateways of one PostgreSQL know of each other. */
  readonly fleet: Fleet
}

/** A gateway of its own. */
const ALONE: Fleet = {
  isShared: false,
  share: () => () => true,
  onChange: () => undefined,
  isOurs: () => Promise.resolve(true),
}

/** Opens the stores for their one `serve`; each failure is a sentence for the operator. */
export async function openStores(
  { dataDir, postgres }: { readonly dataDir: string; readonly postgres: PostgresConfig | null },
  env: Readonly<Record<string, string | undefined>>,
  { log, events }: { readonly log: Logger; readonly events: UsageEvents },
  closing: Closing,
): Promise<Stores> {
  // Before its accounts become a copy of those in PostgreSQL: they may be on their way there.
  refuseLocked(dataDir)
  const place = { dataDir, postgres, env, role: 'keeper' } as const
  const { accounts, keys, fleet } = await openAccountStore(place, log, closing)
  const lock = lockDataDir(dataDir)
  closing.push(() => lock.release())
  const database = openUsageDatabase(dataDir)
  const ledger = new Ledger(database, events)
  closing.push(() => ledger.close())
  const checkpoints = new Checkpoints(database, events)
  closing.push(() => checkpoints.close())
  closing.push(() => ledger.charging.settled())
  const unchecked = [
    { unchecked: database, events: logCheck('usage', log) },
    { unchecked: accounts, events: logCheck(postgres === null ? 'accounts' : 'copy', log) },
  ]
  closing.push(checkLate(unchecked.filter(({ unchecked: { isUnchecked } }) => isUnchecked)))
  const sums = new SumThreads(threadOn(dataDir), checkpoints)
  closing.push(() => sums.close())
  const usage: UsageLedger = {
    totals: (accountId, endpointIds) => ledger.totals(accountId, endpointIds),
    sum: query => sums.sum(query),
  }
  return { accounts, keys, database, ledger, usage, fleet }
}

/** Opens the accounts, for any process that serves calls. */
export async function openAccountStore(
  place: Omit<AccountsPlace, 'warn'>,
  log: Logger,
  closing: Closing,
): Promise<Pick<Stores, 'accounts' | 'keys' | 'fleet'>> {
  const warn = (sentence: string, err?: unknown): void => {
    log.warn(err === undefined ? {} : reasonOf(err), sentence)
  }
  const opened = await openAccountsOf({ ...place, warn })
  const { store: accounts, shared } = opened
  closing.push(() => opened.close())
  const keys = new KeyCache(accounts)
  const look = logAccounts(accounts, log)
  const poll = setInterval(() => {
    keys.poll()
    look()
  }, POLL_ACCOUNTS)
  const record = setInterval(() => void recordUse(keys, log), RECORD_USE)
  const stopHearing = shared?.onTaken(() => {
    keys.poll()
  })
  const fleet = shared === null || place.role !== 'keeper' ? ALONE : await joinFleet(shared, log, closing)
  closing.push(async () => {
    clearInterval(poll)
    clearInterval(record)
    await recordUse(keys, log)
    stopHearing?.()
    keys.close()
  })
  return { accounts, keys, fleet }
}

/** What is missed only shows an endpoint as used earlier than it was. */
async function recordUse(keys: KeyCache, log: Logger): Promise<void> {
  try {
    await keys.recordUse()
  } catch (error) {
    log.warn(reasonOf(error), 'the last use of endpoints cannot be written down; this is tried again')
  }
}
