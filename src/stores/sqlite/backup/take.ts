/** Takes a backup of a data directory, from a process of its own: the gateway that runs on it does nothing for it. */
import type { KeyObject } from 'node:crypto'
import { chmodSync, closeSync, fdatasyncSync, openSync, readdirSync, writeFileSync } from 'node:fs'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { version } from '../../../config/version.ts'
import { encodeMasterKey, masterKeyId } from '../accounts/secrets/master-key.ts'
import { backup } from '../driver.ts'
import { makeWhole } from './folder.ts'
import { describeFile, KEY_FILE, MANIFEST, writeManifest } from './manifest.ts'
import type { Manifest } from './manifest.ts'
import { pinAll } from './moment.ts'
import type { Pinned } from './moment.ts'
import { Pace } from './pace.ts'
import { checkCopy, sumUp } from './sums.ts'

/** Pages that are copied at a time, of 4 KiB, and then written to the disk: all at once they would keep the gateway's writes waiting. */
const PAGES = 1_024
/** Below everything else, where there are not enough cores. */
const NICE = 19

/** What is copied, from where to where. */
export interface BackupOptions {
  readonly dataDir: string
  readonly dir: string
  readonly masterKey: KeyObject
  readonly withKey: boolean
  /** Whether no gateway runs on the data: then nobody is spared. */
  readonly isAlone: boolean
  /** Hears how far it has come. */
  readonly progress: (line: string) => void
}

/** Writes a whole and checked backup to `dir`, or nothing under that name. */
export async function takeBackup({
  dataDir,
  dir,
  masterKey,
  withKey,
  isAlone,
  progress,
}: BackupOptions): Promise<Manifest> {
  return makeWhole(dir, async draft => {
    const pinned = await pinAll(dataDir)
    const pace = new Pace({ isAlone })
    // Not before: whoever waits for a processor while it holds the locks of the journals has calls wait.
    stepBack()
    const at = new Date().toISOString()
    try {
      // The ledger first: as long as it is read, its log cannot start anew.
      for (const file of [...pinned].sort(ledgerFirst)) await copy(file, draft, progress, pace)
    } finally {
      for (const file of pinned) file.release()
    }
    if (withKey) writeFileSync(join(draft, KEY_FILE), encodeMasterKey(masterKey), { mode: 0o600, flag: 'wx' })
    for (const { name } of pinned) {
      progress(`checking ${name}`)
      checkCopy(draft, name)
      pace.rest()
    }
    const sums = sumUp(draft)
    pace.rest()
    const files = []
    for (const name of readdirSync(draft)
      .filter(name => name !== MANIFEST)
      .sort()) {
      chmodSync(join(draft, name), 0o600)
      files.push(await describeFile(draft, name, pace))
    }
    const manifest: Manifest = {
      format: 1,
      version,
      at,
      masterKey: masterKeyId(masterKey),
      hasKey: withKey,
      files,
      sums,
    }
    writeManifest(draft, manifest)
    return manifest
  })
}

function ledgerFirst(one: Pinned, other: Pinned): number {
  return Number(other.name === 'journal.db') - Number(one.name === 'journal.db')
}

/** In the read transaction that is open on it the copy sees one state of the file, and does not begin anew when others write. */
async function copy(
  file: Pinned,
  draft: string,
  progress: (line: string) => void,
  pace: Pace,
): Promise<void> {
  const target = join(draft, file.name)
  // Open until the copy is made: closing it would give back the locks that SQLite has on it.
  const descriptor = openSync(target, 'wx', 0o600)
  try {
    await backup(file.database, target, {
      rate: PAGES,
      progress: ({ totalPages, remainingPages }) => {
        fdatasyncSync(descriptor)
        progress(`copying ${file.name}: ${Math.round(100 * (1 - remainingPages / totalPages))} %`)
        // The next pages are copied when this returns.
        pace.rest()
      },
    })
  } finally {
    closeSync(descriptor)
  }
  file.release()
}

/** Leaves the processor to others, from now on: every thread that is there has a priority of its own, and those to come have that of who starts them. */
function stepBack(): void {
  if (process.platform !== 'linux') return
  for (const thread of readdirSync('/proc/self/task'))
    try {
      setPriority(Number(thread), NICE)
    } catch {
      // It has ended.
    }
}
