/** What the system says of a file, in words for the operator. */
import { lstatSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'
import { quoted } from './shell-word.ts'

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
  ENOTDIR: 'it is not a directory',
  ENOSPC: 'the disk is full',
  EPIPE: 'nobody reads it',
}

/** Why a file or folder could not be used, as the end of a sentence. */
export function fileFault(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? String(error)
  return WORDS[code] ?? code
}

/** The same where somebody may be kept out: as whom this runs, whose it is, and what to do. */
export function accessFault(error: unknown): string {
  const { code, path } = error as NodeJS.ErrnoException
  if ((code !== 'EACCES' && code !== 'EPERM') || path === undefined) return fileFault(error)
  const closed = nearest(path)
  const status = lstatSync(closed, { throwIfNoEntry: false })
  const me = process.getuid?.()
  // Windows has no such users.
  if (me === undefined || status === undefined) return fileFault(error)
  const denied = `permission denied for ${thisUser()}`
  const mode = (status.mode & 0o7777).toString(8).padStart(4, '0')
  const isOwner = status.uid === me
  if (code === 'EPERM' && (isOwner || me === 0))
    return `${denied}; its file system forbids it, or it is immutable (lsattr)`
  if (isOwner) {
    const rights = status.isDirectory() ? 'u+rwx' : 'u+rw'
    return `${denied}; ${closed === path ? 'its mode' : `the mode of ${closed}`} is ${mode}: chmod ${rights} ${quoted(closed)}`
  }
  const owner = closed === path ? 'its owner' : `the owner of ${closed}`
  return `${denied}; run it as ${owner} (uid ${status.uid}, mode ${mode}), or give that user access`
}

/** Who runs this process: a container may run under a number that no name is known of. */
export function thisUser(): string {
  const uid = process.getuid?.()
  try {
    const { username } = userInfo()
    return uid === undefined ? username : `${username} (uid ${uid})`
  } catch {
    return `uid ${uid ?? 'unknown'}`
  }
}

/** The path itself, or the nearest folder above it that can be looked at. */
export function nearest(path: string): string {
  try {
    lstatSync(path)
    return path
  } catch {
    const above = dirname(path)
    return above === path ? path : nearest(above)
  }
}
