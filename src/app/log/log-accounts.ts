/** Logs once when the open accounts.db has been moved or removed, and again when it is back. */
import type { Logger } from '../../observe/log.ts'

/** To be called now and then. Calls go on: who has which key is still known from the file that is open. */
export function logAccounts(accounts: { lost(): Error | null }, log: Logger): () => void {
  let told = false
  return () => {
    const lost = accounts.lost()
    if ((lost !== null) === told) return
    told = lost !== null
    if (lost === null) log.info('the file of accounts is back where it was')
    else
      log.error(
        { err: lost },
        'known keys are served, but changes of accounts are lost and a restart would not find them: stop the gateway, put the file back and start it again',
      )
  }
}
