import { createSecretKey, hkdfSync, randomBytes, type KeyObject } from 'node:crypto'
import {
  chownSync,
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { accessFault } from '../../../../config/words/file-words.ts'
import { quoted } from '../../../../config/words/shell-word.ts'

const VARIABLE = 'TOLLGATE_MASTER_KEY'
const FILE_VARIABLE = 'TOLLGATE_MASTER_KEY_FILE'

/** Whom a key file must be closed to: of a secret mount all but its group, of one that we made all but its owner. */
const OTHERS = 0o007
const ALL_OTHERS = 0o077

/** What follows the name of a key file in that of its draft. */
const DRAFT = /^[0-9a-f]{12}$/

type Env = Readonly<Record<string, string | undefined>>

/** The variable that says what the master key is; null where it is a file of the data directory. Throws when both are set. */
export function masterKeyVariable(env: Env): typeof VARIABLE | typeof FILE_VARIABLE | null {
  const [key, file] = [isSet(env[VARIABLE]), isSet(env[FILE_VARIABLE])]
  if (key && file) throw new Error(`both ${VARIABLE} and ${FILE_VARIABLE} are set: set one of them`)
  if (key) return VARIABLE
  return file ? FILE_VARIABLE : null
}

/** Whether the file that the environment names is the key file of the data directory. */
export function isKeyFileGiven(dataDir: string, env: Env): boolean {
  const given = env[FILE_VARIABLE]?.trim()
  return isSet(given) && existsSync(given!) && realpathSync(given!) === realpathSync(keyFile(dataDir))
}

/** The environment's master key, or that of the file it names, else that of `dataDir/master.key`, else null. 32 bytes in base64. */
export function readMasterKey(dataDir: string, env: Env): KeyObject | null {
  const variable = masterKeyVariable(env)
  if (variable === null) return readKeyFile(keyFile(dataDir), ALL_OTHERS)
  const given = (env[variable] ?? '').trim()
  if (variable === VARIABLE) return decode(given, VARIABLE)
  const key = readKeyFile(given, OTHERS)
  if (key === null) throw new Error(`the master key file ${given} of ${FILE_VARIABLE} does not exist`)
  return key
}

/** The master key of gateways that share their accounts: never that of a data directory. Throws one sentence if the environment names none. */
export function readSharedMasterKey(dataDir: string, env: Env): KeyObject {
  const masterKey = masterKeyVariable(env) === null ? null : readMasterKey(dataDir, env)
  if (masterKey !== null) return masterKey
  throw new Error(
    `with postgres the master key of all gateways comes from ${VARIABLE} or ${FILE_VARIABLE}: neither is set`,
  )
}

/** Said of a key that is not that of the other gateways. */
export const WRONG_SHARED_KEY =
  'the master key does not open the accounts in PostgreSQL: all gateways share one'

/** The master key of a file that an operator names; a new one is written to it (0600) where there is none. */
export function readOrMakeKeyFile(file: string): KeyObject {
  const key = readKeyFile(file, OTHERS)
  if (key === null) makeKeyFile(file)
  removeDrafts(file)
  if (key !== null) return key
  return readKeyFile(file, OTHERS)!
}

/** What a master key is called where it must not be shown: the same for equal keys, and of no use to find them. */
export function masterKeyId(masterKey: KeyObject): string {
  return deriveKey(masterKey, 'key id').export().toString('hex').slice(0, 16)
}

/** A random master key that is nowhere yet. */
export function newMasterKey(): KeyObject {
  return createSecretKey(randomBytes(32))
}

/** A master key as its file has it. */
export function encodeMasterKey(masterKey: KeyObject): string {
  return `${masterKey.export().toString('base64')}\n`
}

/** Puts a master key in the place of the one in `dataDir/master.key`, for the same owner; whoever reads meanwhile finds one or the other. */
export function replaceMasterKey(dataDir: string, masterKey: KeyObject): void {
  const file = keyFile(dataDir)
  const { uid, gid } = statSync(file)
  removeDrafts(file)
  const draft = draftOf(file)
  try {
    writeFileSync(draft, encodeMasterKey(masterKey), { flag: 'wx', mode: 0o600, flush: true })
    const own = statSync(draft)
    // Of the command line run as root: the gateway's user has to read it.
    if (own.uid !== uid || own.gid !== gid) chownSync(draft, uid, gid)
    renameSync(draft, file)
    syncDirectory(dataDir)
  } catch (error) {
    rmSync(draft, { force: true })
    throw new Error(`the master key file ${file} cannot be replaced: ${accessFault(error)}`, { cause: error })
  }
}

/** A new random master key, written to `dataDir/master.key` (0600); of two that race, both get the first one's. */
export function createMasterKey(dataDir: string): KeyObject {
  const file = keyFile(dataDir)
  makeKeyFile(file)
  return readKeyFile(file, ALL_OTHERS)!
}

function makeKeyFile(file: string): void {
  try {
    writeOnce(file, encodeMasterKey(newMasterKey()))
    syncDirectory(dirname(file))
  } catch (error) {
    throw new Error(`the master key file ${file} cannot be created: ${accessFault(error)}`, { cause: error })
  }
}

/** A key of 32 bytes for one purpose (HKDF-SHA-256): the same wherever the master key is. */
export function deriveKey(masterKey: KeyObject, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', masterKey, '', `tollgate ${purpose}`, 32)))
}

/** Where the master key is that the environment does not give. */
export function keyFile(dataDir: string): string {
  return join(dataDir, 'master.key')
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value.trim() !== ''
}

function readKeyFile(file: string, closedTo: number): KeyObject | null {
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
    if (process.platform !== 'win32' && (status.mode & closedTo) !== 0)
      throw new Error(tooOpen(file, closedTo))
    return decode(readFileSync(descriptor, 'utf8').trim(), file)
  } finally {
    closeSync(descriptor)
  }
}

function tooOpen(file: string, closedTo: number): string {
  return closedTo === OTHERS
    ? `the master key file ${file} is open to everybody: chmod o-rwx ${quoted(file)} (a group may read it; in Kubernetes defaultMode: 0440)`
    : `the master key file ${file} is open to others than its owner: chmod 600 ${quoted(file)}, or set ${VARIABLE} or ${FILE_VARIABLE}`
}

function decode(text: string, where: string): KeyObject {
  if (!/^[A-Za-z0-9+/]{43}=?$/.test(text)) {
    throw new Error(`the master key in ${where} is malformed: it must be 32 bytes in base64`)
  }
  return createSecretKey(Buffer.from(text, 'base64'))
}

/** The name appears only with its whole content on disk: neither a racer nor a crash leaves half a key. */
function writeOnce(file: string, content: string): void {
  const draft = draftOf(file)
  writeFileSync(draft, content, { flag: 'wx', mode: 0o600, flush: true })
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!existsSync(file)) throw error
  } finally {
    rmSync(draft, { force: true })
  }
}

/**
 * Removes copies of the key that processes left which were killed while they wrote a key file: files of exactly the form that a draft has, closed to
 * others, and ours or of the owner of the directory. In a data directory drafts are written, and removed here, under the write lock of accounts.db.
 */
export function removeDrafts(file: string): void {
  const [directory, start] = [dirname(file), `${basename(file)}.`]
  const { uid } = statSync(directory)
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(start) || !DRAFT.test(name.slice(start.length))) continue
    const draft = join(directory, name)
    const status = lstatSync(draft, { throwIfNoEntry: false })
    if (status?.isFile() !== true || (status.mode & 0o777) !== 0o600) continue
    if (status.uid !== uid && status.uid !== process.getuid?.()) continue
    try {
      rmSync(draft, { force: true })
    } catch {
      // Of a directory that may only be read: whoever may write there removes it.
    }
  }
}

function draftOf(file: string): string {
  return `${file}.${randomBytes(6).toString('hex')}`
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
