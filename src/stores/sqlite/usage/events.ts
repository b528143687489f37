/** Work on journal.db beside the commits. */
export type SideWork = 'quota' | 'fold' | 'sync' | 'checkpoint'

/** Tells the rest of the process how recording usage goes. */
export interface UsageEvents {
  /** A batch of charges is on disk, after so many seconds. */
  committed(seconds: number): void
  /** It is, and the one before was not: calls are served again. */
  recovered(): void
  /** It is not. Calls are refused until a commit works again. */
  failed(error: Error): void
  /** Other work failed. It is done again later, and nothing that was recorded is lost. */
  delayed(work: SideWork, error: Error): void
  /** The file that is open is no longer the one at its path. Calls are refused until a restart. */
  lost(error: Error): void
}
