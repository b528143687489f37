/** Opens the accounts, wherever they are kept: what PostgreSQL takes is loaded only where it is configured. */
import type { PostgresConfig } from '../config/fleet.ts'
import type { SharedAccounts, SharedRole } from './postgres/accounts/open.ts'
import { openAccounts } from './sqlite/accounts/store.ts'
import type { AccountStore } from './sqlite/accounts/store.ts'

/** Where accounts are kept, and who opens them. */
export interface AccountsPlace {
  readonly dataDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Null: in dataDir alone. */
  readonly postgres: PostgresConfig | null
  readonly role: SharedRole
  /** Hears what the operator should know. */
  readonly warn: (sentence: string, cause?: unknown) => void
}

/** The open accounts. */
export interface OpenedAccounts {
  readonly store: AccountStore
  /** Where they are kept in PostgreSQL. */
  readonly shared: SharedAccounts | null
  close(): Promise<void>
}

/** Opens them; a failure is one sentence for the operator. */
export async function openAccountsOf({ postgres, ...place }: AccountsPlace): Promise<OpenedAccounts> {
  if (postgres === null) {
    const store = await openAccounts(place)
    return {
      store,
      shared: null,
      close: async () => {
        store.close()
        return Promise.resolve()
      },
    }
  }
  const { openSharedAccounts } = await import('./postgres/accounts/open.ts')
  const shared = await openSharedAccounts({ ...place, postgres })
  return {
    store: shared.store,
    shared,
    close: async () => {
      await shared.close()
      shared.store.close()
    },
  }
}
