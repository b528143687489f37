/** Makes a data directory of a backup: all of it is checked before anything has the name of the directory. */
import { chmodSync, copyFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { accessFault } from '../../../config/words/file-words.ts'
import { accountsFile } from '../accounts/schema.ts'
import { unlock } from '../accounts/secrets/key-ring.ts'
import { masterKeyVariable } from '../accounts/secrets/master-key.ts'
import { DatabaseSync } from '../driver.ts'
import { makeWhole, refuseFilled } from './folder.ts'
import { KEY_FILE, MANIFEST, readManifest, whyOther } from './manifest.ts'
import type { Manifest } from './manifest.ts'
import { checkCopy, sumUp } from './sums.ts'

/** From where to where, with which environment. */
export interface RestoreOptions {
  readonly dir: string
  readonly dataDir: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Hears how far it has come. */
  readonly progress: (line: string) => void
}

/** Restores a backup; throws one sentence, and has made nothing, where it is not whole or `dataDir` is in use. */
export async function restoreBackup({ dir, dataDir, env, progress }: RestoreOptions): Promise<Manifest> {
  const from = resolve(dir)
  refuseFilled(resolve(dataDir))
  const manifest = readManifest(from)
  refuseKeyless(from, manifest, env)
  for (const file of manifest.files) {
    progress(`checking ${file.name}`)
    const why = await whyOther(from, file)
    if (why !== null) throw new Error(why)
  }
  return makeWhole(dataDir, async draft => {
    for (const file of manifest.files) {
      progress(`copying ${file.name}`)
      copy(from, draft, file.name)
      // What was read first may have changed since, and the disk may have failed.
      const why = await whyOther(draft, file)
      if (why !== null) throw new Error(why.replace(draft, from))
    }
    for (const { name } of manifest.files)
      if (name !== KEY_FILE) inWordsOf(from, draft, () => checkCopy(draft, name))
    const sums = sumUp(draft)
    if (JSON.stringify(sums) !== JSON.stringify(manifest.sums))
      throw new Error(`${join(from, MANIFEST)} does not fit its files: they hold other sums`)
    proveKey(from, draft, manifest, env)
    return manifest
  })
}

/** Where the environment gives the key the file is not needed, and whoever keeps the key off the disk does not want it there. */
function proveKey(from: string, draft: string, { hasKey }: Manifest, env: RestoreOptions['env']): void {
  const database = new DatabaseSync(join(draft, accountsFile.name), { readOnly: true })
  try {
    const check = (given: RestoreOptions['env']): void => {
      inWordsOf(from, draft, () => unlock(database, draft, given))
    }
    if (hasKey) check({})
    if (masterKeyVariable(env) === null) return
    check(env)
    rmSync(join(draft, KEY_FILE), { force: true })
  } finally {
    database.close()
  }
}

function refuseKeyless(from: string, { hasKey }: Manifest, env: RestoreOptions['env']): void {
  if (!hasKey && masterKeyVariable(env) === null)
    throw new Error(
      `${from} was made without its master key: set TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE to it`,
    )
}

function copy(from: string, draft: string, name: string): void {
  const target = join(draft, name)
  try {
    copyFileSync(join(from, name), `${target}.copy`)
    chmodSync(`${target}.copy`, 0o600)
    renameSync(`${target}.copy`, target)
  } catch (error) {
    throw new Error(`${join(from, name)} cannot be copied: ${accessFault(error)}`, { cause: error })
  }
  if (!statSync(target).isFile()) throw new Error(`${join(from, name)} is not a file`)
}

/** Sentences about the copy name the file that it was made of. */
function inWordsOf(from: string, draft: string, work: () => unknown): void {
  try {
    work()
  } catch (error) {
    throw new Error((error as Error).message.replaceAll(draft, from), { cause: error })
  }
}
