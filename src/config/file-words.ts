/** What the system says of a file, in words for the operator. */

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  EISDIR: 'it is a directory',
  ENOTDIR: 'it is not a directory',
  ENOSPC: 'the disk is full',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its links go in a circle',
}

/** Why a file or folder could not be used, as the end of a sentence. */
export function fileFault(error: unknown): string {
  const code = (error as NodeJS.ErrnoException).code ?? String(error)
  return WORDS[code] ?? code
}
