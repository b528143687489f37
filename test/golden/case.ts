import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What stands beside the cases: the files of a small valid configuration, each of which a case may replace. */
export const base: Readonly<Record<string, string>> = readFolder('base')

/** One case: files that replace those of the base. */
export interface Case {
  /** By name; the lines of each keep the numbers that they have in the case, so that a place can be looked up there. */
  readonly files: Readonly<Record<string, string>>
  readonly env: Readonly<Record<string, string>>
  /** Further sections by their titles, such as `ask`. */
  readonly notes: Readonly<Record<string, readonly string[]>>
}

/** The texts of a folder beside this file, by file name. */
export function readFolder(name: string): Record<string, string> {
  const folder = new URL(`${name}/`, import.meta.url)
  const names = readdirSync(folder, { withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => entry.name)
    .sort()
  return Object.fromEntries(names.map(file => [file, readFileSync(new URL(file, folder), 'utf8')]))
}

/**
 * Reads a case. `# plans.yaml` begins a file, `# plans.yaml is missing` takes it away, `# name.txt` begins another file,
 * `# environment` lines of NAME=value, `# live` and `# ask` what is asked of a gateway.
 */
export function readCase(text: string): Case {
  const files: Record<string, string> = { ...base }
  const env: Record<string, string> = {}
  const notes: Record<string, string[]> = {}
  let take = (line: string): void => {
    throw new Error(`a case begins with "# <file>", not with "${line}"`)
  }
  for (const [number, line] of text.trimEnd().split('\n').entries()) {
    const [, title = '', gone] =
      /^# ([a-z]+\.(?:yaml|txt)|environment|ask|live)( is missing)?$/.exec(line) ?? []
    if (title === '') take(line)
    else if (gone !== undefined) delete files[title]
    else if (title === 'environment') take = entry => setEntry(env, entry)
    else if (title.endsWith('.txt')) {
      files[title] = ''
      take = line => void (files[title] = `${files[title] ?? ''}${line}\n`)
    } else if (title.endsWith('.yaml')) {
      files[title] = '\n'.repeat(number + 1)
      take = line => void (files[title] = `${files[title] ?? ''}${line}\n`)
    } else {
      const lines = (notes[title] = [] as string[])
      take = line => void lines.push(line)
    }
  }
  return { files, env, notes }
}

function setEntry(env: Record<string, string>, entry: string): void {
  const [name = '', ...value] = entry.split('=')
  env[name] = value.join('=')
}

/** Writes the files of a case where the gateway can read them. */
export function writeCase(dir: string, { files }: Case): void {
  mkdirSync(dir, { recursive: true })
  for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text)
}
