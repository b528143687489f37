/** The files as the running gateway reads them, and which variables another environment has otherwise. */
import { createHash, randomBytes } from 'node:crypto'
import { referencesIn, substitute } from '../../config/yaml/substitute.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The reply of `GET /on-disk`. */
export interface OnDisk {
  /** Null while the files have errors. */
  readonly version: string | null
  readonly salt: string
  /** Fingerprints of the values of all `${NAME}` and `${NAME:-default}` in the files, by those of the references: a default may be a secret. */
  readonly references: Readonly<Record<string, string>>
}

/** One for the life of the process: a new one for each reply would reveal more of a value with every reply. */
const SALT = randomBytes(16).toString('hex')

/** The reply for this process. */
export function onDiskOf(version: string | null, texts: readonly string[], env: Env): OnDisk {
  const found = texts.flatMap(referencesIn)
  const references = found.map(({ reference }) => [short(SALT, reference), valueOf(SALT, reference, env)])
  return { version, salt: SALT, references: Object.fromEntries(references) as OnDisk['references'] }
}

/** Names of the variables in the same files with another value in `env`. */
export function differing({ salt, references }: OnDisk, texts: readonly string[], env: Env): string[] {
  const others = texts
    .flatMap(referencesIn)
    .filter(({ reference }) => references[short(salt, reference)] !== valueOf(salt, reference, env))
  return [...new Set(others.map(({ name }) => name))]
}

/** The fingerprint of what stands for a reference in `env`. */
function valueOf(salt: string, reference: string, env: Env): string {
  const value = substitute(reference, { env, readFile: () => ({ failure: '' }) })
  return short(salt, 'text' in value ? `=${value.text}` : '')
}

/** 16 bits: enough to notice a difference, too few to confirm a guess at a secret. */
function short(salt: string, text: string): string {
  return createHash('sha256').update(`${salt}${text}`).digest('hex').slice(0, 4)
}
