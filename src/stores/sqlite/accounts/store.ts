import type { DatabaseSync } from '../driver.ts'
import { AccountTable } from './account-table.ts'
import { openDatabase, type OpenDatabase } from './database.ts'
import { EndpointTable, type EndpointLabel } from './endpoint-table.ts'
import { hashKey } from './hash.ts'
import { newAccountId, newEndpointId } from './ids.ts'
import { isWellFormed, isWellFormedToken, mintKey, mintToken } from './keys.ts'
import { ENDPOINT_LIMIT } from './limit.ts'
import { AccountsInUse } from './in-use.ts'
import { generateName } from './name.ts'
import { ownersByKey } from './owner-of-key.ts'
import { closeFile } from '../file.ts'
import { Transactions } from './transactions.ts'
import type { Account, AccountStatus, Endpoint, EndpointChange, EndpointWithKey, KeyOwner } from './types.ts'

/** Where accounts live, and by which clock in Unix seconds (default: the system's). */
export interface AccountStoreOptions {
  readonly dataDir: string
  readonly env: NodeJS.ProcessEnv
  readonly now?: () => number
}

/** Told the keys, in clear, that no longer stand for what they stood for. */
export type ChangeListener = (keys: readonly string[]) => void

/** Opens `dataDir/accounts.db`; fails with one sentence for the operator. */
export async function openAccounts(options: AccountStoreOptions): Promise<AccountStore> {
  const opened = await openDatabase(options.dataDir, options.env)
  return new AccountStore(opened, options.now ?? (() => Math.floor(Date.now() / 1000)))
}

/**
 * Accounts, endpoints and keys in one SQLite file that other processes may write too. Reads are synchronous and never
 * wait; writes are transactions that wait for other processes without blocking the event loop, at most 5 s.
 */
export class AccountStore {
  // Statements do not keep their database from being garbage-collected: this reference does.
  readonly #database: DatabaseSync
  readonly #accounts: AccountTable
  readonly #endpoints: EndpointTable
  /** What of a configuration is in use. */
  readonly inUse: AccountsInUse
  /** Why changes would be lost: what is at the path of the file is not what is open. Null while it is. */
  readonly lost: () => Error | null
  readonly #ownerOfKey: (keyHash: Buffer) => KeyOwner | null
  readonly #transactions: Transactions
  readonly #dataVersion
  readonly #now: () => number
  readonly #listeners = new Set<ChangeListener>()
  #seenVersion: number

  constructor(open: OpenDatabase, now: () => number) {
    const { database, masterKey } = open
    this.#database = database
    this.#accounts = new AccountTable(database)
    this.#endpoints = new EndpointTable(database, masterKey)
    this.inUse = new AccountsInUse(this.#accounts, this.#endpoints)
    this.#ownerOfKey = ownersByKey(database)
    this.lost = () => open.opened.lost()
    this.#transactions = new Transactions(open)
    this.#dataVersion = database.prepare('PRAGMA data_version')
    this.#now = now
    this.#seenVersion = this.#readVersion()
  }

  /** The endpoint and account behind an API key, whatever their status. */
  findByKey(key: string): KeyOwner | null {
    return isWellFormed(key) ? this.#ownerOfKey(hashKey(key)) : null
  }

  /** The account behind a dashboard token. */
  findByToken(token: string): Account | null {
    return isWellFormedToken(token) ? this.#accounts.findByToken(hashKey(token)) : null
  }

  account(id: string): Account | null {
    return this.#accounts.find(id)
  }

  /** SHA-256 of the account's dashboard token, in hex: another one after it was rotated. */
  tokenHash(id: string): string | null {
    return this.#accounts.tokenHash(id)
  }

  /** In the order of creation. */
  accounts(): Account[] {
    return this.#accounts.all()
  }

  /** Ids of the accounts of that name, in the order of creation. */
  accountsNamed(name: string): string[] {
    return this.#accounts.named(name)
  }

  endpoint(id: string): Endpoint | null {
    return this.#endpoints.find(id)
  }

  /** In the order of creation, keys in clear. */
  endpoints(accountId: string): EndpointWithKey[] {
    return this.#endpoints.ofAccount(accountId)
  }

  /** One endpoint of the account, key in clear; null when it has none of that id. */
  ownEndpoint(accountId: string, endpointId: string): EndpointWithKey | null {
    return this.#owned(accountId, endpointId)
  }

  /** How many endpoints count towards the account's limit. */
  endpointCount(accountId: string): number {
    return this.#endpoints.count(accountId)
  }

  /** Whose an endpoint is; deleted ones too, so that their usage can still be named. */
  endpointLabel(id: string): EndpointLabel | null {
    return this.#endpoints.label(id)
  }

  /** A new account and the only sight of its dashboard token. */
  createAccount(wish: { name: string; plan: string }): Promise<{ account: Account; dashboardToken: string }> {
    const dashboardToken = mintToken()
    return this.#write(() => {
      const fresh = { id: newAccountId(), status: 'active', createdAt: this.#now() } as const
      const account: Account = { ...fresh, name: wish.name, plan: wish.plan }
      this.#accounts.insert(account, hashKey(dashboardToken))
      return { account, dashboardToken }
    })
  }

  /** The account as it is then; null when there is none. */
  setPlan(id: string, plan: string): Promise<Account | null> {
    return this.#changeAccount(id, () => this.#accounts.setPlan(id, plan))
  }

  /** The account as it is then; null when there is none. */
  setStatus(id: string, status: AccountStatus): Promise<Account | null> {
    return this.#changeAccount(id, () => this.#accounts.setStatus(id, status))
  }

  /** The new dashboard token, the old one being void; null when there is no such account. */
  rotateToken(id: string): Promise<string | null> {
    const token = mintToken()
    return this.#write(() => (this.#accounts.setToken(id, hashKey(token)) ? token : null))
  }

  /** A new endpoint with its key. The limit holds however many processes create at once. */
  createEndpoint(wish: {
    accountId: string
    network: string
    name?: string
  }): Promise<EndpointWithKey | 'limit_reached' | 'no_account'> {
    return this.#write(() => {
      const { accountId, network, name = generateName(network) } = wish
      if (this.#accounts.find(accountId) === null) return 'no_account'
      if (this.#endpoints.count(accountId) >= ENDPOINT_LIMIT) return 'limit_reached'
      const open = { management: true, allowedOrigins: null, allowedIps: null, perSecond: null }
      const fresh = { id: newEndpointId(), status: 'active', createdAt: this.#now() } as const
      const endpoint: EndpointWithKey = { ...fresh, ...open, apiKey: mintKey(), accountId, network, name }
      this.#endpoints.insert(endpoint)
      return endpoint
    })
  }

  /**
   * The endpoint as it is then; null when the account (null: the operator) has none of that id. A list of origins means
   * that the key lives in browsers, so management goes unless the change says that it stays.
   */
  updateEndpoint(
    accountId: string | null,
    endpointId: string,
    change: EndpointChange,
  ): Promise<EndpointWithKey | null> {
    return this.#write(changed => {
      const before = this.#owned(accountId, endpointId)
      if (before === null) return null
      const closing = (change.allowedOrigins ?? null) === null ? {} : { management: false }
      const after = { ...before, ...closing, ...change }
      this.#endpoints.update(after)
      changed.push(after.apiKey)
      return after
    })
  }

  /** What was deleted; null when the account (null: the operator) has no endpoint of that id. */
  deleteEndpoint(accountId: string | null, endpointId: string): Promise<Endpoint | null> {
    return this.#write(changed => {
      const found = this.#owned(accountId, endpointId)
      if (found === null) return null
      const { apiKey, ...endpoint } = found
      this.#endpoints.remove(endpointId)
      changed.push(apiKey)
      return endpoint
    })
  }

  /** Puts the endpoints of a network (`accountId` null: of all accounts) on another, under the same keys; how many they were. */
  moveEndpoints(from: string, to: string, accountId: string | null): Promise<number> {
    return this.#write(changed => {
      // To open every seal is for those only who remember keys.
      if (this.#listeners.size > 0)
        for (const key of this.#endpoints.keysOn(from, accountId)) changed.push(key)
      return this.#endpoints.move(from, to, accountId)
    })
  }

  /** Whether another process has changed anything since this was last asked. */
  changedElsewhere(): boolean {
    const version = this.#readVersion()
    const changed = version !== this.#seenVersion
    this.#seenVersion = version
    return changed
  }

  /** Tells of each change made through this store in the turn that commits it; returns how to stop. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Closes the file, once; writes that still wait for a lock fail. */
  close(): void {
    closeFile(this.#database)
  }

  #changeAccount(id: string, change: () => void): Promise<Account | null> {
    return this.#write(changed => {
      change()
      for (const { apiKey } of this.#endpoints.ofAccount(id)) changed.push(apiKey)
      return this.#accounts.find(id)
    })
  }

  #owned(accountId: string | null, endpointId: string): EndpointWithKey | null {
    const endpoint = this.#endpoints.findWithKey(endpointId)
    return endpoint === null || (accountId !== null && endpoint.accountId !== accountId) ? null : endpoint
  }

  #write<T>(work: (changed: string[]) => T): Promise<T> {
    const changed: string[] = []
    return this.#transactions.run(
      () => work(changed),
      () => changed.length > 0 && this.#listeners.forEach(listener => listener(changed)),
    )
  }

  #readVersion(): number {
    return (this.#dataVersion.get() as { data_version: number }).data_version
  }
}
