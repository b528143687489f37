import type { KeyObject } from 'node:crypto'
import type { DatabaseSync } from '../../driver.ts'
import { createMasterKey, readMasterKey } from './master-key.ts'
import { open, seal } from './seal.ts'

const OWNER = 'canary'
const TEXT = 'tollgate'

/**
 * The master key that opens this database, proved on a sealed canary; at first use the key is made and the canary
 * laid down. Runs in a write transaction, so that of two first starts the second meets the canary of the first.
 */
export function unlock(database: DatabaseSync, dataDir: string, env: NodeJS.ProcessEnv): KeyObject {
  const canary = database.prepare('SELECT sealed FROM canary').get() as { sealed: Uint8Array } | undefined
  const given = readMasterKey(dataDir, env)
  if (canary === undefined) {
    const masterKey = given ?? createMasterKey(dataDir)
    database.prepare('INSERT INTO canary (id, sealed) VALUES (1, ?)').run(seal(masterKey, OWNER, TEXT))
    return masterKey
  }
  // A new key would not open what is there: better none.
  if (given === null) {
    throw new Error(
      `the master key of accounts.db is missing: neither TOLLGATE_MASTER_KEY is set nor ${dataDir}/master.key there`,
    )
  }
  if (!opens(given, canary.sealed)) throw new Error(`the master key does not open accounts.db in ${dataDir}`)
  return given
}

function opens(masterKey: KeyObject, sealed: Uint8Array): boolean {
  try {
    return open(masterKey, OWNER, sealed) === TEXT
  } catch {
    return false
  }
}
