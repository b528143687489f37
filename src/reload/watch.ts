/** Watches files: editors, atomic renames, and the `..data` swap of Kubernetes. */
import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Milliseconds of quiet before an edit counts as done. */
const QUIET = 250
/** Milliseconds between looks where the system reports no change, as on some network file systems. */
const LOOK_EVERY = 10_000

/** Calls `changed` once after each burst of changes to any of the files; returns how to stop. */
export async function watchFiles(files: readonly string[], changed: () => void): Promise<() => void> {
  let seen = await fingerprint(files)
  let timer: NodeJS.Timeout | undefined
  const look = async (): Promise<void> => {
    const now = await fingerprint(files)
    if (now === seen) return
    seen = now
    changed()
  }
  // A watched file goes deaf with its first atomic rename; the directory does not.
  const watchers = [...new Set(files.map(dirname))].flatMap(dir =>
    watchQuietly(dir, () => {
      clearTimeout(timer)
      timer = setTimeout(() => void look(), QUIET)
    }),
  )
  const looking = setInterval(() => void look(), LOOK_EVERY)
  looking.unref()
  return () => {
    for (const watcher of watchers) watcher.close()
    clearTimeout(timer)
    clearInterval(looking)
  }
}

/** A directory that is not there is looked at now and then all the same. */
function watchQuietly(dir: string, changed: () => void): FSWatcher[] {
  try {
    const watcher = watch(dir, changed)
    watcher.on('error', () => undefined)
    return [watcher]
  } catch {
    return []
  }
}

/** What tells one state of the files from another, symbolic links followed. */
export async function fingerprint(files: readonly string[]): Promise<string> {
  const parts = files.map(async file => {
    try {
      const { ino, size, mtimeMs } = await stat(file)
      return `${ino} ${size} ${mtimeMs}`
    } catch {
      return 'none'
    }
  })
  return (await Promise.all(parts)).join('; ')
}
