import { readFileSync } from 'node:fs'
import { readFile, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileFault } from './words/file-words.ts'
import { FILES, isOptional, type FileName } from './files.ts'
import type { Problem } from './problem.ts'
import { emptyRecord } from './record.ts'
import type { Lookup } from './yaml/substitute.ts'

/** The raw texts of a directory, and what could not be read. */
export interface Texts {
  readonly texts: Readonly<Record<string, string>>
  readonly problems: readonly Problem[]
}

const NOT_UTF8 = 'ERR_ENCODING_INVALID_ENCODED_DATA'

/** Reads the five files of `dir`. */
export async function readTexts(dir: string): Promise<Texts> {
  const unreadable = await directoryProblem(dir)
  if (unreadable !== null) return { texts: {}, problems: [unreadable] }
  const texts = emptyRecord<string>()
  const problems: Problem[] = []
  for (const file of FILES) {
    try {
      texts[file] = decode(await readFile(join(dir, file)))
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') problems.push(unread(file, `cannot read this file: ${reason(error)}`))
      else if (!isOptional(file)) problems.push(unread(file, 'this file is missing'))
    }
  }
  return { texts, problems }
}

/** Looks `${…}` up in `env` and in files, relative ones in `dir`; read once and afresh for each load. */
export function lookupIn(dir: string, env: Readonly<Record<string, string | undefined>>): Lookup {
  return {
    env,
    readFile: path => {
      try {
        return { text: decode(readFileSync(resolve(dir, path))) }
      } catch (error) {
        return { failure: reason(error) }
      }
    },
  }
}

/** The text of a JSON Schema that ships with the package. */
export function readSchema(file: FileName): string {
  return readFileSync(
    new URL(`../../schema/${file.replace('.yaml', '.schema.json')}`, import.meta.url),
    'utf8',
  )
}

async function directoryProblem(dir: string): Promise<Problem | null> {
  try {
    await readdir(dir)
    return null
  } catch (error) {
    return unread(dir, `cannot read the configuration directory: ${reason(error)}`)
  }
}

function unread(file: string, message: string): Problem {
  return { file, line: 1, column: 1, path: '', severity: 'error', message }
}

/** The text of UTF-8 bytes; throws on any other. */
export function decode(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}

/** Why a file could not be read, as a sentence's end. */
export function reason(error: unknown): string {
  return codeOf(error) === NOT_UTF8 ? 'it is not valid UTF-8' : fileFault(error)
}
