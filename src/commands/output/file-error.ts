/** What the system said of a file, as a sentence for the operator: which file, as whom, and what to do. */
import { accessFault, nearest } from '../../config/words/file-words.ts'

interface FileError extends NodeJS.ErrnoException {
  readonly code: string
  readonly path: string
  readonly syscall: string
}

/** What a system call was about to do. */
const VERBS: Readonly<Record<string, string>> = {
  lstat: 'read',
  stat: 'read',
  scandir: 'read',
  readlink: 'read',
  access: 'read',
  read: 'read',
  write: 'write',
  ftruncate: 'write',
  fsync: 'write',
  copyfile: 'write',
  unlink: 'remove',
  rm: 'remove',
  rmdir: 'remove',
  rename: 'rename',
  chmod: 'change the mode of',
  mkdir: 'make the folder',
}

/** The sentence of any error: the system's words about a file are explained. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return isFileError(error) ? `cannot ${verbOf(error)} ${error.path}: ${reasonOf(error)}` : error.message
}

function isFileError(error: unknown): error is FileError {
  const { code, path, syscall } = (error ?? {}) as Partial<FileError>
  return [code, path, syscall].every(each => typeof each === 'string')
}

/** A file that is opened and not there was to be made. */
function verbOf({ syscall, path, code }: FileError): string {
  if (syscall === 'open') return nearest(path) === path || code === 'ENOENT' ? 'open' : 'write'
  return VERBS[syscall] ?? `use (${syscall})`
}

/** What the system says, as the end of a sentence. */
export function reasonOf(error: NodeJS.ErrnoException): string {
  const { code, path = '', syscall, message } = error
  if (code === 'EEXIST' && syscall === 'mkdir') return 'a file of that name is there; name another folder'
  if (code === 'ENOTDIR') return `${nearest(path)} is not a folder; name another one`
  const words = accessFault(error)
  // `EMFILE: too many open files, open '…'`
  return words === code ? message.slice(message.indexOf(': ') + 2).replace(/, \w+( '.*)?$/s, '') : words
}
