/**
 * What npm runs behind an installation, and before each first `npx tollgate` of a checkout: builds the program where it is missing or older
 * than what it is built from. A needless build makes that command wait for 12 s without a word.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** When the newest file of a folder, or a file, was changed; -Infinity where it is not there. */
function changed(path: string): number {
  const full = join(root, path)
  const stats = statSync(full, { throwIfNoEntry: false })
  if (stats === undefined) return -Infinity
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(-Infinity, ...readdirSync(full).map(name => changed(join(path, name))))
}

const sources = ['src', 'dashboard', 'schema', 'build', 'package.json', 'tsconfig.build.json'].map(changed)
const built = ['dist/main.js', 'dist/dashboard'].map(changed)
const npm = (...words: string[]): void => {
  execFileSync('npm', words, { cwd: root, stdio: 'inherit' })
}
if (Math.min(...built) < Math.max(...sources)) npm('run', 'build')
// tap builds itself with the plugins of .taprc. Without this, the first run behind each `npm ci` takes the ones that it shipped with.
if (changed('node_modules/@tapjs/test/test-built/package.json') < changed('node_modules/.package-lock.json'))
  npm('exec', '--', 'tap', 'build')
