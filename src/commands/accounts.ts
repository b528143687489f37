/** Opens accounts.db for one command; the gateway may be running on it. */
import { openAccounts } from '../accounts/store.ts'
import type { AccountStore } from '../accounts/store.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Arguments, Io } from './command.ts'
import { useDataDir } from './data-dir.ts'
import type { DataDirOptions } from './data-dir.ts'
import { loadOrThrow } from './load.ts'

type Work<T> = (accounts: AccountStore, snapshot: Snapshot) => Promise<T> | T

/** Runs `work` on the accounts of the configuration's dataDir, which has to be there unless `init` is given. */
export async function withAccounts<T>(
  args: Pick<Arguments, 'config' | 'json'>,
  io: Io,
  work: Work<T>,
  options: DataDirOptions = {},
): Promise<T> {
  const snapshot = await loadOrThrow(args.config, io)
  await useDataDir(args, snapshot, io, options)
  return onAccounts(snapshot, io, work)
}

/** The same on a data directory that this process has made or looked at already. */
export async function onAccounts<T>(snapshot: Snapshot, io: Io, work: Work<T>): Promise<T> {
  const accounts = await openAccounts({ dataDir: snapshot.gateway.dataDir, env: io.env })
  try {
    return await work(accounts, snapshot)
  } finally {
    accounts.close()
  }
}
