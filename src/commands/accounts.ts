/** Opens accounts.db for one command; the gateway may be running on it. */
import { openAccounts } from '../accounts/store.ts'
import type { AccountStore } from '../accounts/store.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Io } from './command.ts'
import { loadOrThrow } from './load.ts'

/** Runs `work` on the accounts of the configuration's dataDir. */
export async function withAccounts<T>(
  dir: string,
  io: Io,
  work: (accounts: AccountStore, snapshot: Snapshot) => Promise<T> | T,
): Promise<T> {
  const snapshot = await loadOrThrow(dir, io)
  const accounts = await openAccounts({ dataDir: snapshot.gateway.dataDir, env: io.env })
  try {
    return await work(accounts, snapshot)
  } finally {
    accounts.close()
  }
}
