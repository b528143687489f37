/**
 * dist/, which always has a whole program: each build is a folder there, and main.js loads the one that is named in it. A gateway that was started
 * before starts its threads from its own folder, so the build before the present one stays.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const dist = fileURLToPath(new URL('../dist/', import.meta.url))

/** The build that main.js loads: the name of its folder; undefined where there is none. */
export function presentBuild(folder = dist): string | undefined {
  try {
    return /'\.\/(build-\w+)\/main\.js'/.exec(readFileSync(join(folder, 'main.js'), 'utf8'))?.[1]
  } catch {
    return undefined
  }
}

/** Makes the files of a folder in dist/ the present build. */
export function publish(made: string): void {
  const before = presentBuild()
  const build = `build-${hashOf(made)}`
  mkdirSync(join(dist, build), { recursive: true })
  // A folder of this name has the same files, unless they were damaged.
  for (const name of readdirSync(made)) renameSync(join(made, name), join(dist, build, name))
  replace('program.js', `export * from './${build}/program.js'\n`, 0o666)
  replace('main.js', `#!/usr/bin/env node\nimport './${build}/main.js'\n`, 0o777)
  const kept = ['main.js', 'program.js', 'dashboard', build, before]
  // When the present build is made again, main.js does not say which one came before it.
  const isKept = (name: string): boolean =>
    kept.includes(name) || (build === before && name.startsWith('build-'))
  for (const name of readdirSync(dist))
    if (!isKept(name)) rmSync(join(dist, name), { recursive: true, force: true })
}

function hashOf(folder: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder).sort()) hash.update(name).update(readFileSync(join(folder, name)))
  return hash.digest('hex').slice(0, 8)
}

/** At once: nobody reads a part of it. */
function replace(name: string, text: string, mode: number): void {
  const beside = join(dist, `${name}.new`)
  writeFileSync(beside, text, { mode })
  renameSync(beside, join(dist, name))
}
