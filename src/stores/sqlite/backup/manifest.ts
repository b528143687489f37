/** manifest.json: what a backup holds. It is written last, so a backup without one is not whole. */
import { createHash } from 'node:crypto'
import { createReadStream, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { accessFault } from '../../../config/words/file-words.ts'
import type { Pace } from './pace.ts'
import type { Sums } from './sums.ts'

/** Its name, and that of the sealing key. */
export const MANIFEST = 'manifest.json'
export const KEY_FILE = 'master.key'
const FORMAT = 1
/** The files that may be named in it. */
const NAME = /^(?:accounts|journal|journal-\d+-[0-9a-f]{16})\.db$|^master\.key$/

/** One file of a backup. */
export interface BackupFile {
  readonly name: string
  readonly bytes: number
  readonly sha256: string
}

/** What a backup is. */
export interface Manifest {
  readonly format: number
  /** The version of the program that has made it. */
  readonly version: string
  /** The moment of all of its files, in ISO 8601. */
  readonly at: string
  /** The id of the master key that opens it, and whether that key is in it. */
  readonly masterKey: string
  readonly hasKey: boolean
  readonly files: readonly BackupFile[]
  readonly sums: Sums
}

/** Writes it, closed to others and on disk. */
export function writeManifest(dir: string, manifest: Manifest): void {
  const text = JSON.stringify({ ...manifest, sha256: checksum(manifest) }, null, 2)
  writeFileSync(join(dir, MANIFEST), `${text}\n`, { mode: 0o600, flag: 'wx', flush: true })
}

/** Reads it, and throws a sentence where it is missing, damaged or of another kind. */
export function readManifest(dir: string): Manifest {
  const file = join(dir, MANIFEST)
  const { sha256, ...manifest } = parse(file) as unknown as Manifest & { readonly sha256: string }
  if (manifest.format !== FORMAT)
    throw new Error(
      `${file} is of another version of Tollgate (format ${String(manifest.format)}, here ${FORMAT})`,
    )
  if (sha256 !== checksum(manifest) || !manifest.files.every(({ name }) => NAME.test(name)))
    throw new Error(`${file} is damaged: its checksum does not fit`)
  return manifest
}

/** Why a file is not the one that a manifest names; null when it is. */
export async function whyOther(dir: string, { name, bytes, sha256 }: BackupFile): Promise<string | null> {
  const file = join(dir, name)
  const size = statSync(file, { throwIfNoEntry: false })?.size
  if (size === undefined) return `${file} is missing`
  if (size !== bytes) return `${file} is damaged: it has ${size} bytes, and ${bytes} in ${MANIFEST}`
  return (await sha256Of(file)) === sha256 ? null : `${file} is damaged: its checksum does not fit`
}

/** What a manifest says of a file. */
export async function describeFile(dir: string, name: string, pace: Pace): Promise<BackupFile> {
  const file = join(dir, name)
  return { name, bytes: statSync(file).size, sha256: await sha256Of(file, pace) }
}

async function sha256Of(file: string, pace?: Pace): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    hash.update(chunk as Buffer)
    pace?.rest()
  }
  return hash.digest('hex')
}

function checksum(manifest: object): string {
  return createHash('sha256').update(JSON.stringify(manifest)).digest('hex')
}

function parse(file: string): object {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') throw new Error(`${file} is missing: this is not a whole backup`, { cause: error })
    throw new Error(`${file} cannot be read: ${accessFault(error)}`, { cause: error })
  }
  try {
    return JSON.parse(text) as object
  } catch (error) {
    throw new Error(`${file} is damaged: it is not JSON`, { cause: error })
  }
}
