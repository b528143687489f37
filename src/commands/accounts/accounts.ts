/** Opens accounts.db for one command; the gateway may be running on it. */
import { StoreUnavailable } from '../../ports/store-unavailable.ts'
import { FileLost } from '../../stores/sqlite/place.ts'
import { openAccountsOf } from '../../stores/open-accounts.ts'
import type { AccountStore } from '../../stores/sqlite/accounts/store.ts'
import type { Arguments, Io } from '../command.ts'
import type { DataDirOptions, Grounds } from '../data-dir.ts'
import { knowData } from '../known.ts'
import type { Known } from '../known.ts'

/** Runs `work` on the accounts of the configuration's dataDir, which has to be there unless `init` is given. */
export async function withAccounts<T>(
  args: Pick<Arguments, 'config' | 'json'>,
  io: Io,
  work: (store: AccountStore, known: Known) => Promise<T> | T,
  options: DataDirOptions = {},
): Promise<T> {
  const known = await knowData(args, io, { ...options, isOfAccounts: true })
  const { onData } = await known.around()
  const attempt = (): Promise<T> =>
    onAccounts(known.gateway, io, store => {
      if (onData?.damaged !== undefined) store.refuse(new Error(onData.damaged))
      return work(store, known)
    })
  try {
    return await attempt()
  } catch (error) {
    // A start beside this command has failed and taken back what it had made, and with it what was written here: again, from the beginning.
    if (options.init === true && isLost(error)) return attempt()
    throw error
  }
}

/** Whether the file has gone from under it, at its opening or at a change. */
function isLost(error: unknown): boolean {
  return error instanceof FileLost || (error instanceof StoreUnavailable && error.cause instanceof FileLost)
}

/** The same on a data directory that this process has made or looked at already. */
export async function onAccounts<T>(
  { dataDir, postgres }: Pick<Grounds['gateway'], 'dataDir' | 'postgres'>,
  io: Io,
  work: (store: AccountStore) => Promise<T> | T,
): Promise<T> {
  const warn = (sentence: string): void => {
    io.err(`tollgate: warning: ${sentence}`)
  }
  const opened = await openAccountsOf({ dataDir, postgres, env: io.env, role: 'command', warn })
  try {
    return await work(opened.store)
  } finally {
    await opened.close()
  }
}

/** That no account has this id; which one was meant where a name was given for it. */
export async function noAccount({ accounts }: AccountStore, word: string): Promise<string> {
  const ids = await accounts.named(word)
  const hint =
    ids.length < 2
      ? ids.map(id => `; the account of that name is ${id}`).join('')
      : `; ${ids.length} accounts have that name: ${ids.join(', ')}`
  return `there is no account "${word}"${hint}`
}
