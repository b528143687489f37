import { createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { accessFault } from '../../../../config/words/file-words.ts'
import { quoted } from '../../../../config/words/shell-word.ts'

const VARIABLE = 'TOLLGATE_MASTER_KEY'

/** The environment's master key, else that of `dataDir/master.key`, else null. 32 bytes in base64. */
export function readMasterKey(dataDir: string, env: NodeJS.ProcessEnv): KeyObject | null {
  const given = env[VARIABLE]?.trim()
  if (given !== undefined && given !== '') return decode(given, VARIABLE)
  return readKeyFile(keyFile(dataDir))
}

/** A new random master key, written to `dataDir/master.key` (0600); of two that race, both get the first one's. */
export function createMasterKey(dataDir: string): KeyObject {
  const file = keyFile(dataDir)
  try {
    writeOnce(file, `${randomBytes(32).toString('base64')}\n`)
    syncDirectory(dataDir)
  } catch (error) {
    throw new Error(`the master key file ${file} cannot be created: ${accessFault(error)}`, { cause: error })
  }
  return readKeyFile(file)!
}

/** A key of 32 bytes for one purpose (HKDF-SHA-256): the same wherever the master key is. */
export function deriveKey(masterKey: KeyObject, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, '', `tollgate ${purpose}`, 32)))
}

/** Where the master key is that the environment does not give. */
export function keyFile(dataDir: string): string {
  return join(dataDir, 'master.key')
}

function readKeyFile(file: string): KeyObject | null {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new Error(`the master key file ${file} cannot be read: ${accessFault(error)}`, { cause: error })
  }
  try {
    const status = fstatSync(descriptor)
    if (!status.isFile()) throw new Error(`the master key file ${file} is not a file`)
    // Windows has no such modes and reports every file as readable by all.
    if (process.platform !== 'win32' && (status.mode & 0o077) !== 0) {
      throw new Error(
        `the master key file ${file} is open to others than its owner: chmod 600 ${quoted(file)}, or set ${VARIABLE}`,
      )
    }
    return decode(readFileSync(descriptor, 'utf8').trim(), file)
  } finally {
    closeSync(descriptor)
  }
}

function decode(text: string, where: string): KeyObject {
  if (!/^[A-Za-z0-9+/]{43}=?$/.test(text)) {
    throw new Error(`the master key in ${where} is malformed: it must be 32 bytes in base64`)
  }
  return createSecretKey(Buffer.from(text, 'base64'))
}

/** The name appears only with its whole content on disk: neither a racer nor a crash leaves half a key. */
function writeOnce(file: string, content: string): void {
  const draft = `${file}.${randomBytes(6).toString('hex')}`
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code
}

/** Without it a power loss can keep what was sealed and lose the key. */
function syncDirectory(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
