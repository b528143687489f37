/** What the system said of a file, as a sentence for the operator: which file, as whom, and what to do. */
import { lstatSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { dirname } from 'node:path'

interface FileError extends NodeJS.ErrnoException {
  readonly code: string
  readonly path: string
  readonly syscall: string
}

/** What a system call was about to do. */
const VERBS: Readonly<Record<string, string>> = {
  ...{ lstat: 'read', stat: 'read', scandir: 'read', readlink: 'read', access: 'read', read: 'read' },
  ...{ write: 'write', ftruncate: 'write', fsync: 'write', copyfile: 'write' },
  ...{ unlink: 'remove', rm: 'remove', rmdir: 'remove', rename: 'rename', chmod: 'change the mode of' },
  mkdir: 'make the folder',
}

/** The sentence of any error: the system's words about a file are explained, and sentences of ours get what its refusal says besides. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (isFileError(error)) return `cannot ${verbOf(error)} ${error.path}: ${reasonOf(error)}`
  const { cause } = error
  return isFileError(cause) && isDenied(cause) ? `${error.message}: ${reasonOf(cause)}` : error.message
}

function isFileError(error: unknown): error is FileError {
  const { code, path, syscall } = (error ?? {}) as Partial<FileError>
  return [code, path, syscall].every(each => typeof each === 'string')
}

function isDenied({ code }: FileError): boolean {
  return code === 'EACCES' || code === 'EPERM'
}

/** A file that is opened and not there was to be made. */
function verbOf({ syscall, path, code }: FileError): string {
  if (syscall === 'open') return nearest(path) === path || code === 'ENOENT' ? 'open' : 'write'
  return VERBS[syscall] ?? `use (${syscall})`
}

function reasonOf(error: FileError): string {
  const { code, path, syscall, message } = error
  if (isDenied(error)) return deniedAt(path)
  if (code === 'EEXIST' && syscall === 'mkdir') return 'a file of that name is there; name another folder'
  if (code === 'ENOTDIR') return `${nearest(path)} is not a folder; name another one`
  if (code === 'ENOENT') return 'it does not exist'
  if (code === 'EISDIR') return 'it is a folder'
  if (code === 'ENOSPC') return 'the disk is full'
  if (code === 'EROFS') return 'its file system is read-only'
  // `ENAMETOOLONG: name too long, mkdir '…'`
  return message.slice(message.indexOf(': ') + 2).replace(/, \w+ '.*$/s, '')
}

/** Whom the system keeps out, and who has what it keeps closed. */
function deniedAt(path: string): string {
  const closed = nearest(path)
  const owner = statSync(closed, { throwIfNoEntry: false })?.uid
  // Windows has no such users.
  if (process.getuid === undefined || owner === undefined) return 'permission denied'
  const advice = `run it as the owner of ${closed} (uid ${owner}), or give that user access`
  return `permission denied for ${whoami(process.getuid())}; ${advice}`
}

function whoami(uid: number): string {
  try {
    return `${userInfo().username} (uid ${uid})`
  } catch {
    return `uid ${uid}` // a container may run under a number that no name is known of
  }
}

/** The path itself, or the nearest folder above it that can be looked at. */
function nearest(path: string): string {
  try {
    lstatSync(path)
    return path
  } catch {
    const above = dirname(path)
    return above === path ? path : nearest(above)
  }
}
