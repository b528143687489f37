/** Watches the configuration directory: editors, atomic renames, and the `..data` swap of Kubernetes. */
import { watch } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Milliseconds of quiet before an edit counts as done. */
const QUIET = 250
/** Milliseconds between looks where the system tells of no change, as on some network file systems. */
const LOOK_EVERY = 10_000

const FILES = ['networks.yaml', 'routes.yaml', 'methods.yaml', 'plans.yaml', 'gateway.yaml']

/** Calls `changed` once after each burst of changes to the five files; returns how to stop. */
export async function watchDirectory(dir: string, changed: () => void): Promise<() => void> {
  let seen = await fingerprint(dir)
  let timer: NodeJS.Timeout | undefined
  const look = async (): Promise<void> => {
    const now = await fingerprint(dir)
    if (now === seen) return
    seen = now
    changed()
  }
  // A watched file goes deaf with its first atomic rename; the directory does not.
  const watcher = watch(dir, () => {
    clearTimeout(timer)
    timer = setTimeout(() => void look(), QUIET)
  })
  watcher.on('error', () => undefined)
  const looking = setInterval(() => void look(), LOOK_EVERY)
  looking.unref()
  return () => {
    watcher.close()
    clearTimeout(timer)
    clearInterval(looking)
  }
}

/** What tells one state of the files from another, symbolic links followed. */
async function fingerprint(dir: string): Promise<string> {
  const parts = FILES.map(async file => {
    try {
      const { ino, size, mtimeMs } = await stat(join(dir, file))
      return `${ino} ${size} ${mtimeMs}`
    } catch {
      return 'none'
    }
  })
  return (await Promise.all(parts)).join('; ')
}
