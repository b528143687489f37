import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import type { Gateway } from './gateway.ts'
import type { Teardown } from './teardown.ts'

/** A place for data that can run out of room and get it back. */
export interface CrampedDisk {
  readonly name: string
  /** Why it cannot be had here; undefined where it can. */
  readonly missing?: string
  /** Whether the next process finds no room either. */
  readonly outlivesProcess: boolean
  /** Makes the data directory of a gateway that is not started yet such a place. */
  prepare(t: Teardown, gateway: Gateway): void
  /** Leaves no room. */
  fill(gateway: Gateway): void
  /** Makes room again. */
  free(gateway: Gateway): void
}

/** Runs a command quietly; gives why it could not, or undefined. */
function failure(command: string, args: readonly string[]): string | undefined {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return undefined
  } catch (error) {
    return `${command} does not work here (${(error as NodeJS.ErrnoException).code ?? 'refused'})`
  }
}

const dataDir = (gateway: Gateway) => join(gateway.dir, 'data')
const ballast = (gateway: Gateway) => join(dataDir(gateway), 'ballast')

/** Whether this user may mount; undefined when so. */
export function cannotMount(): string | undefined {
  if (process.getuid?.() !== 0) return 'mounting takes root'
  return failure('unshare', ['-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'])
}

/** A small file system in memory, filled by a file beside the data. */
const smallDisk = (): CrampedDisk => {
  const missing = cannotMount()
  let reader: DatabaseSync | undefined
  return {
    name: 'a full disk',
    outlivesProcess: true,
    ...(missing === undefined ? {} : { missing }),
    prepare: (t, gateway) => {
      const place = dataDir(gateway)
      mkdirSync(place)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=2m,mode=700', 'tmpfs', place])
      t.teardown(() => execFileSync('umount', ['-l', place]))
    },
    fill: gateway => {
      const { bavail, bsize } = statfsSync(dataDir(gateway))
      try {
        writeFileSync(ballast(gateway), Buffer.alloc(bavail * bsize))
      } catch (error) {
        // The gateway has taken some of it since: the disk is as full as it should be.
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
      // While somebody reads, the write-ahead log cannot begin anew in the room that it has.
      reader = new DatabaseSync(join(dataDir(gateway), 'journal.db'), { readOnly: true })
      reader.exec('BEGIN; SELECT count(*) FROM usage')
    },
    free: gateway => {
      reader?.close()
      rmSync(ballast(gateway))
    },
  }
}

/** How far a running process may write into any file. */
export function limitFiles(pid: number, bytes: '1' | 'unlimited'): void {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes}:unlimited`])
}

/** Why `limitFiles` cannot be used here; undefined where it can. */
export function cannotLimitFiles(): string | undefined {
  return failure('prlimit', ['--version'])
}

const smallFiles = (): CrampedDisk => {
  const missing = cannotLimitFiles()
  return {
    name: 'files that may not grow',
    outlivesProcess: false,
    ...(missing === undefined ? {} : { missing }),
    prepare: () => undefined,
    fill: ({ pid }) => {
      limitFiles(pid, '1')
    },
    free: ({ pid }) => {
      limitFiles(pid, 'unlimited')
    },
  }
}

/** All that there are; which of them can be had here they say themselves. */
export const crampedDisks: readonly CrampedDisk[] = [smallDisk(), smallFiles()]
