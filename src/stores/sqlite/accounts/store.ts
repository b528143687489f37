import type { KeyObject } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import type { Accounts } from '../../../ports/accounts.ts'
import type { Alerts } from '../../../ports/alerts.ts'
import type { Audit } from '../../../ports/audit.ts'
import type { Endpoints } from '../../../ports/endpoints.ts'
import type { KeyOwner, SignIns } from '../../../ports/keys.ts'
import type { Sessions } from '../../../ports/sessions.ts'
import type { Tokens } from '../../../ports/tokens.ts'
import type { DatabaseSync } from '../driver.ts'
import { closeFile } from '../file.ts'
import { AccountTable } from './account-table.ts'
import { SqliteAccounts } from './accounts.ts'
import { SqliteAlerts } from './alerts/alerts.ts'
import { AuditTable, SqliteAudit } from './audit.ts'
import { Changes } from './changes.ts'
import type { ChangeListener } from './changes.ts'
import { openDatabase, type OpenDatabase } from './database.ts'
import { EndpointTable } from './endpoint-table.ts'
import { SqliteEndpoints } from './endpoints.ts'
import { hashKey } from './secrets/hash.ts'
import { AccountsInUse } from './in-use.ts'
import { isWellFormed } from './secrets/keys.ts'
import type { KeyRing, Purpose } from './secrets/key-ring.ts'
import { OnceTable } from './once.ts'
import { expiredKeys, ownersByKey } from './owner-of-key.ts'
import { KeyRotation } from './rotation.ts'
import { SqliteSessions } from './sessions.ts'
import { signInsOf } from './sign-ins.ts'
import { SqliteTokens } from './tokens.ts'
import { FileTransactions, SafeTransactions } from './transactions.ts'
import type { Transactions } from './transactions.ts'
import type { Unchecked } from '../late-check.ts'

/** Rows that a write which nobody waits for changes in one transaction. */
const AT_ONCE = 200

/** Where accounts live, and by which clock in Unix seconds, which may have a fraction (default: the system's). */
export interface AccountStoreOptions {
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  readonly now?: () => number
}

/** Where the file is a copy of what is elsewhere: how that is written, and how old the copy is. */
export interface Copy {
  readonly transactions: Transactions
  readonly age: () => number
}

/** Opens `dataDir/accounts.db`; fails with one sentence for the operator. */
export async function openAccounts(options: AccountStoreOptions): Promise<AccountStore> {
  const opened = await openDatabase(options.dataDir, options.env)
  return new AccountStore(opened, options.now ?? (() => Date.now() / 1000))
}

/**
 * Accounts, endpoints, keys, sessions, tokens and the audit trail in one SQLite file that other processes may write too. Reads are synchronous and never
 * wait; writes are transactions that wait for other processes without blocking the event loop, at most 5 s.
 */
export class AccountStore implements Unchecked {
  // Statements do not keep their database from being garbage-collected: this reference does.
  readonly #database: DatabaseSync
  readonly accounts: Accounts
  readonly endpoints: Endpoints
  readonly signIns: SignIns
  readonly sessions: Sessions
  readonly audit: Audit
  readonly alerts: Alerts
  /** Of the admin API. */
  readonly tokens: Tokens
  /** What of a configuration is in use. */
  readonly inUse: AccountsInUse
  readonly file: string
  /** Whether most of the file is still to be checked. */
  readonly isUnchecked: boolean
  /** Why changes would be lost: what is at the path of the file is not what is open. Null while it is. */
  readonly lost: () => Error | null
  /** How old what it knows is, in milliseconds, where the file is a copy of what PostgreSQL has. */
  readonly age: () => number
  /** The replacement of the master key. */
  readonly rotation: KeyRotation
  readonly #ring: KeyRing
  readonly #transactions: SafeTransactions
  readonly #refusalListeners = new Set<(reason: Error) => void>()
  readonly #endpointTable: EndpointTable
  readonly #ownerOfKey: (keyHash: Buffer) => KeyOwner | null
  readonly #expired: ReturnType<typeof expiredKeys>
  readonly #changes: Changes

  constructor(open: OpenDatabase, exactly: () => number, copy: Copy | null = null) {
    const { database, ring } = open
    const now = (): number => Math.floor(exactly())
    this.#database = database
    this.file = open.file
    this.isUnchecked = open.isUnchecked
    const transactions = (this.#transactions = new SafeTransactions(
      copy?.transactions ?? new FileTransactions(open),
    ))
    this.age = () => copy?.age() ?? 0
    const [audit, once] = [new AuditTable(database), new OnceTable(database, ring, now)]
    const changes = (this.#changes = new Changes(database, { transactions, audit, once, now }))
    const [accounts, endpoints] = [new AccountTable(database), new EndpointTable(database, ring)]
    this.#endpointTable = endpoints
    this.accounts = new SqliteAccounts({ table: accounts, endpoints, audit, changes, now })
    this.audit = new SqliteAudit(audit, transactions, now)
    this.alerts = new SqliteAlerts(database, { transactions, changes, ring, now })
    this.tokens = new SqliteTokens(database, changes, now)
    this.endpoints = new SqliteEndpoints(endpoints, accounts, changes, exactly)
    this.signIns = signInsOf({ accounts, endpoints, findByKey: key => this.findByKey(key), now })
    this.sessions = new SqliteSessions(database, transactions)
    this.inUse = new AccountsInUse(accounts, endpoints)
    this.#ownerOfKey = ownersByKey(database, now)
    this.#expired = expiredKeys(database, now)
    this.lost = () => open.opened.lost()
    this.#ring = ring
    this.rotation = new KeyRotation(database, { transactions, ring, audit, now })
  }

  /** The endpoint and account behind an API key, whatever their status. */
  findByKey(key: string): KeyOwner | null {
    return isWellFormed(key) ? this.#ownerOfKey(hashKey(key)) : null
  }

  /** The endpoint of an API key that has expired, and when that was, in Unix seconds. */
  findExpired(key: string): { readonly id: string; readonly at: number } | null {
    return isWellFormed(key) ? this.#expired(hashKey(key)) : null
  }

  /** Writes down in which hour endpoints were last used, a few in a transaction. Nobody waits for it, and it counts as no change. */
  async recordUse(endpointIds: readonly string[], hour: number): Promise<void> {
    for (let i = 0; i < endpointIds.length; i += AT_ONCE) {
      if (i > 0) await turn()
      // Another process has often written down the same.
      const some = endpointIds.slice(i, i + AT_ONCE).filter(id => this.#endpointTable.isUnused(id, hour))
      if (some.length === 0) continue
      await this.#transactions.run(() => {
        for (const id of some) this.#endpointTable.setUsed(id, hour)
      })
    }
  }

  /** Keys for one purpose, the newest first: every process that opens this store derives the same ones. `again` when something does not open. */
  derivedKeys(purpose: Purpose, again: boolean): readonly KeyObject[] {
    return this.#ring.derived(purpose, again)
  }

  /** The master key that everything is sealed by, for a backup. */
  get masterKey(): KeyObject {
    this.#ring.look()
    return this.#ring.current
  }

  /** Whether another process has changed an account or an endpoint since this was last asked. A new master key is learned on the way. */
  changedElsewhere(): boolean {
    this.#ring.look()
    return this.#changes.changedElsewhere()
  }

  /** To be called where this file is a replica and has taken in what others have changed. */
  takenIn(): void {
    this.#changes.takenIn()
  }

  /** Calls `listener` for each change made through this store, in the turn that commits it; returns how to stop. */
  onChange(listener: ChangeListener): () => void {
    return this.#changes.onChange(listener)
  }

  /** Why changes are refused, as the file is damaged; null while they are not. */
  get refused(): Error | null {
    return this.#transactions.refused
  }

  /** From now on changes are refused: the file is damaged. What can be read of it is read. */
  refuse(reason: Error): void {
    this.#transactions.refuse(reason)
    for (const listener of this.#refusalListeners) listener(reason)
  }

  /** Calls `listener` when changes are refused from then on. */
  onRefused(listener: (reason: Error) => void): void {
    this.#refusalListeners.add(listener)
  }

  /** Closes the file, once; writes that still wait for a lock fail. */
  close(): void {
    closeFile(this.#database)
  }
}
