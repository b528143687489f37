/** Work on journal.db beside the commits. */
export type SideWork = 'quota'

/** Tells the rest of the process how recording usage goes. */
export interface UsageEvents {
  /** A group of charges is on disk, after so many seconds. */
  committed(seconds: number): void
  /** It is not, and its calls are refused. */
  failed(error: Error): void
  /** Other work failed. It is done again later, and nothing that was recorded is lost. */
  delayed(work: SideWork, error: Error): void
}
