/** The check of a file that is too large to be read before the gateway serves: it is read while it serves, by a process that can be ended. */
import { fork } from 'node:child_process'

/** What the process sends: what is wrong with the file; null when it is sound. */
export type Verdict = string | null

/** A file of which only a part was read when it was opened. */
export interface Unchecked {
  readonly file: string
  /** From now on nothing is written to it that is to last. */
  refuse(reason: Error): void
}

/** Tells the operator how it goes. */
export interface CheckEvents {
  begun(file: string): void
  /** It is sound. */
  ended(file: string, seconds: number): void
  /** It is not, and refuses what would be written to it. */
  damaged(error: Error): void
  /** It could not be found out. */
  failed(error: Error): void
}

/** A check that is to be made, and who hears how it goes. */
export interface LateCheck {
  readonly unchecked: Unchecked
  readonly events: CheckEvents
}

/**
 * Begins the checks, one after another, as all read one disk; a file that is found to be damaged refuses from then on. Returns what ends
 * them early.
 */
export function checkLate(checks: readonly LateCheck[]): () => void {
  let end = (): void => undefined
  const begin = ([check, ...others]: readonly LateCheck[]): void => {
    if (check !== undefined)
      end = checkFile(check, () => {
        begin(others)
      })
  }
  begin(checks)
  return () => {
    end()
  }
}

/** Begins one, with `next` behind it. Returns what ends it early, and with it all that were to follow. */
function checkFile({ unchecked, events }: LateCheck, next: () => void): () => void {
  const { file } = unchecked
  const begin = performance.now()
  const own = import.meta.url
  // Run from src/, the process has to learn TypeScript first, as threads do (net/thread.ts).
  const child = own.endsWith('.ts')
    ? fork(new URL('./check-process.ts', own), [file], {
        stdio: 'ignore',
        execArgv: [`--import=${import.meta.resolve('tsx')}`],
      })
    : fork(new URL('./file-check.js', own), [file], { stdio: 'ignore' })
  let isOver = false
  const over = (tell: () => void): void => {
    if (isOver) return
    isOver = true
    tell()
    next()
  }
  events.begun(file)
  child.once('message', (verdict: Verdict) => {
    over(() => {
      if (verdict === null) {
        events.ended(file, (performance.now() - begin) / 1000)
        return
      }
      const error = new Error(verdict)
      unchecked.refuse(error)
      events.damaged(error)
    })
  })
  const failed = (why: string, cause?: unknown): void => {
    over(() => {
      events.failed(new Error(`${file} could not be checked: ${why}`, { cause }))
    })
  }
  child.once('error', error => {
    failed(error.message, error)
  })
  child.once('exit', (code, signal) => {
    const ended = (): void => {
      failed(`the process that was to do it ended with ${signal ?? String(code)}`)
    }
    // What it said last may still be on the way.
    if (child.connected) child.once('disconnect', ended)
    else ended()
  })
  return () => {
    isOver = true
    child.kill('SIGKILL')
  }
}
