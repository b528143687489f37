import { resolve } from 'node:path'
import { build } from './build/build.ts'
import { check } from './check.ts'
import { extend } from './extend.ts'
import type { Evaluated } from './yaml/evaluate.ts'
import { FILES } from './files.ts'
import { readLogo } from './dashboard/logo.ts'
import type { Path } from './yaml/path.ts'
import { keyPlace, type Place } from './yaml/place.ts'
import { valuesOf } from './yaml/values.ts'
import type { Problem } from './problem.ts'
import { lookupIn, readTexts } from './read.ts'
import { deepFreeze } from './record.ts'
import { inOrder, problemOf } from './report.ts'
import type { Config } from './types.ts'
import type { RawConfig } from './raw-config.ts'

/** What a configuration directory holds. */
export interface Loaded {
  /** Null when there is any error. */
  readonly config: Config | null
  /** All that is wrong, by file, line and column; one a place. */
  readonly problems: readonly Problem[]
  /** Where the key of a path stands, or that of its nearest parent: for those who find problems later. */
  readonly locate: (file: string, path: Path) => Place
  /** The files as they are, by name: equal ones are an unchanged configuration, but for what `${…}` brings in. */
  readonly texts: Readonly<Record<string, string>>
}

/** Reads, checks and completes the configuration in `dir`; `port` is the one that is listened on whatever the files say. */
export async function loadConfig(
  dir: string,
  env: Readonly<Record<string, string | undefined>> = process.env,
  port?: number,
): Promise<Loaded> {
  const { texts, problems: unread } = await readTexts(dir)
  const lookup = lookupIn(dir, env)
  const files = new Map<string, Evaluated>()
  const broken: Problem[] = []
  for (const file of FILES) {
    if (texts[file] === undefined) continue
    const values = valuesOf(file, texts[file], lookup)
    if ('nodes' in values) files.set(file, values)
    else broken.push(values)
  }
  const methods = files.get('methods.yaml')
  const extended = methods === undefined ? null : extend(methods, dir, env, [resolve(dir, 'methods.yaml')])
  const { written, findings } = check(files, extended)
  const logo = await readLogo(written.gateway?.dashboard?.logo, dir)
  const isShown = logo === null || 'content' in logo
  const wrong = [...findings, ...(isShown ? [] : [logo])].map(finding =>
    problemOf(finding, files.get(finding.file)!),
  )
  const problems = inOrder([...unread, ...broken, ...(extended?.problems ?? []), ...wrong])
  return deepFreeze({
    config: problems.some(problem => problem.severity === 'error')
      ? null
      : build(written as RawConfig, dir, { port, extended: extended?.paths, logo: isShown ? logo : null }),
    problems,
    locate: (file: string, path: Path): Place => placeOfKey(files.get(file), path),
    texts,
  })
}

function placeOfKey(file: Evaluated | undefined, path: Path): Place {
  return file === undefined ? { line: 1, column: 1 } : keyPlace(file, path)
}
