/** The master keys that open a database: one, or two from the moment when one begins to replace the other until all is sealed by it. */
import { createSecretKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { existsSync } from 'node:fs'
import type { DatabaseSync, StatementSync } from '../../driver.ts'
import { opensCanary, sealCanary } from './canary.ts'
import {
  createMasterKey,
  deriveKey,
  isKeyFileGiven,
  keyFile,
  masterKeyVariable,
  readMasterKey,
} from './master-key.ts'
import { open, seal } from './seal.ts'

/** What keys are derived from the master key for: those of before a rotation go on for a while. */
export const PURPOSES = ['filter ids'] as const
export type Purpose = (typeof PURPOSES)[number]

/** Under which names the two keys of a rotation are sealed, each by the other: who has one has both. */
export const NEW_KEY = 'new master key'
export const OLD_KEY = 'old master key'

const STATE = `SELECT canary.sealed AS canary, rotation.new_by_old AS newByOld, rotation.old_by_new AS oldByNew
  FROM canary LEFT JOIN rotation ON TRUE`

interface State {
  readonly canary: Uint8Array
  readonly newByOld: Uint8Array | null
  readonly oldByNew: Uint8Array | null
}

/**
 * Seals with the newest key and opens with each that is known. The canary is sealed by the newest: when it is another one than before, a process has begun
 * to replace the key, and this one learns the new key from the file, or from where its own key came.
 */
export class KeyRing {
  readonly #state: StatementSync
  readonly #earlier: StatementSync
  readonly #readSource: () => KeyObject | null
  /** The newest first. */
  #known: readonly KeyObject[]
  #canary: Uint8Array = Buffer.alloc(0)
  #isRotating = false
  readonly #derived = new Map<Purpose, readonly KeyObject[]>()

  /** `given` is the key that this process has, `readSource` reads it again from where it came. The holder keeps the database referenced. */
  constructor(database: DatabaseSync, given: KeyObject, readSource: () => KeyObject | null) {
    this.#known = [given]
    this.#readSource = readSource
    this.#state = database.prepare(STATE)
    this.#earlier = database.prepare(
      'SELECT sealed FROM earlier_key WHERE purpose = ? AND until > unixepoch() ORDER BY until DESC',
    )
  }

  /** The newest key. */
  get current(): KeyObject {
    return this.#known[0]!
  }

  /** The two keys while one is replaced by the other; null when all is sealed by one. */
  get rotation(): { readonly from: KeyObject; readonly to: KeyObject } | null {
    const [to, from] = this.#known
    return this.#isRotating ? { from: from!, to: to! } : null
  }

  /** The key that a process which starts now would begin with: that of the environment or the file. */
  get source(): KeyObject | null {
    return this.#fromSource()[0] ?? null
  }

  /** Looks whether there is a newer key. Whether this process has the newest one. */
  look(): boolean {
    const state = this.#state.get() as State | undefined
    if (state === undefined) return false
    const isSame = Buffer.compare(this.#canary, state.canary) === 0
    if (isSame && this.#isRotating === (state.newByOld !== null)) return true
    // The source last: mostly the file says it.
    return this.#learn(state, this.#known) || this.#learn(state, this.#fromSource())
  }

  /** Seals with the newest key. To be called in a write transaction: whoever has a new key has it sealed from then on. */
  seal(owner: string, text: string): Buffer {
    if (!this.look())
      throw new Error('the master key of accounts.db was replaced while this process ran: restart it')
    return seal(this.current, owner, text)
  }

  /** The text that was sealed; throws when no key opens it. */
  open(owner: string, sealed: Uint8Array): string {
    const text = this.#tryKnown(owner, sealed) ?? (this.look() ? this.#tryKnown(owner, sealed) : null)
    if (text === null) throw new Error('the master key does not open a sealed value of accounts.db')
    return text
  }

  /** Whether the newest key has sealed this. */
  isNewest(owner: string, sealed: Uint8Array): boolean {
    return tryOpen(this.current, owner, sealed) !== null
  }

  /**
   * Keys for one purpose, the same in every process: the newest, to seal with, and those of before a rotation. `again` when something does not open:
   * another process may have a newer one.
   */
  derived(purpose: Purpose, again: boolean): readonly KeyObject[] {
    if (again) this.look()
    let keys = this.#derived.get(purpose)
    if (keys === undefined) {
      const rows = this.#earlier.all(purpose) as { sealed: Uint8Array }[]
      const texts = rows.flatMap(({ sealed }) => tryOpen(this.current, purpose, sealed) ?? [])
      keys = [deriveKey(this.current, purpose), ...texts.map(decode)]
      this.#derived.set(purpose, keys)
    }
    return keys
  }

  #fromSource(): readonly KeyObject[] {
    try {
      const key = this.#readSource()
      return key === null ? [] : [key]
    } catch {
      return [] // as good as none: what is known stays
    }
  }

  #learn({ canary, newByOld, oldByNew }: State, keys: readonly KeyObject[]): boolean {
    const isRotating = newByOld !== null && oldByNew !== null
    const handed = isRotating ? keys.flatMap(key => tryOpen(key, NEW_KEY, newByOld) ?? []).map(decode) : []
    const newest = [...keys, ...handed].find(key => opensCanary(key, canary))
    if (newest === undefined) return false
    const old = isRotating ? [decode(open(newest, OLD_KEY, oldByNew))] : []
    this.#known = [newest, ...old]
    this.#canary = canary
    this.#isRotating = isRotating
    this.#derived.clear()
    return true
  }

  #tryKnown(owner: string, sealed: Uint8Array): string | null {
    for (const key of this.#known) {
      const text = tryOpen(key, owner, sealed)
      if (text !== null) return text
    }
    return null
  }
}

/**
 * The keys that open this database, proved on a sealed canary; at first use the key is made and the canary laid down. Runs in a write transaction, so that
 * of two first starts the second meets the canary of the first. `wrongKey` is the sentence for a key that does not open them.
 */
export function unlock(
  database: DatabaseSync,
  dataDir: string,
  env: NodeJS.ProcessEnv,
  wrongKey = `the master key does not open accounts.db in ${dataDir}${ignoredKey(dataDir, env)}`,
): KeyRing {
  const given = readMasterKey(dataDir, env)
  const isNew = database.prepare('SELECT 1 FROM canary').get() === undefined
  // A new key would not open what is there: better none.
  if (!isNew && given === null)
    throw new Error(
      `the master key of accounts.db is missing: neither TOLLGATE_MASTER_KEY nor TOLLGATE_MASTER_KEY_FILE is set, and ${dataDir}/master.key does not exist`,
    )
  const masterKey = given ?? createMasterKey(dataDir)
  if (isNew) database.prepare('INSERT INTO canary (id, sealed) VALUES (1, ?)').run(sealCanary(masterKey))
  const ring = new KeyRing(database, masterKey, () => readMasterKey(dataDir, env))
  if (!ring.look()) throw new Error(wrongKey)
  return ring
}

/** Whether a master key opens accounts with this canary, and with this sealed new key during a rotation. */
export function opensAccounts(
  masterKey: KeyObject,
  canary: Uint8Array,
  newByOld: Uint8Array | null,
): boolean {
  return (
    opensCanary(masterKey, canary) || (newByOld !== null && tryOpen(masterKey, NEW_KEY, newByOld) !== null)
  )
}

/** What to do about a master.key that is ignored because a variable names another key. */
function ignoredKey(dataDir: string, env: NodeJS.ProcessEnv): string {
  const variable = masterKeyVariable(env)
  const file = keyFile(dataDir)
  if (variable === null || !existsSync(file) || isKeyFileGiven(dataDir, env)) return ''
  return `: ${variable} is set, so ${file} is ignored; unset it, and change the key with tollgate master-key rotate`
}

function tryOpen(key: KeyObject, owner: string, sealed: Uint8Array): string | null {
  try {
    return open(key, owner, sealed)
  } catch {
    return null
  }
}

/** A key as `seal` takes it. */
export function keyText(key: KeyObject): string {
  return key.export().toString('base64')
}

function decode(text: string): KeyObject {
  return createSecretKey(Buffer.from(text, 'base64'))
}
