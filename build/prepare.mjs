/**
 * npm runs this after an installation in a checkout, and before each first `npx tollgate` there. It builds the program
 * if it is missing or older than its sources: a needless build makes that command wait for 12 s. Plain JavaScript,
 * because `npm ci` with NODE_ENV=production runs it without the packages that a build needs.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/**
 * When the newest file of a folder, or a file, was changed; -Infinity if it does not exist.
 * @param {string} path
 * @returns {number}
 */
function changed(path) {
  const full = join(root, path)
  const stats = statSync(full, { throwIfNoEntry: false })
  if (stats === undefined) return -Infinity
  if (!stats.isDirectory()) return stats.mtimeMs
  return Math.max(-Infinity, ...readdirSync(full).map(name => changed(join(path, name))))
}

const sources = ['src', 'dashboard', 'schema', 'build', 'package.json', 'tsconfig.build.json'].map(changed)
const built = ['dist/main.js', 'dist/dashboard'].map(changed)
/** @param {string[]} words */
function npm(...words) {
  execFileSync('npm', words, { cwd: root, stdio: 'inherit' })
}

if (!existsSync(join(root, 'node_modules/esbuild'))) {
  const what = existsSync(join(root, 'dist/main.js')) ? 'dist/ stays as it is' : 'nothing was built'
  console.log(
    `tollgate: the packages of a build are not installed, so ${what}; on a server install the package that "npm pack" makes in a checkout with them (README, Install)`,
  )
  process.exit(0)
}
if (Math.min(...built) < Math.max(...sources)) npm('run', 'build')
// tap builds itself with the plugins of .taprc: without this, the first run after `npm ci` would use those it was shipped with.
const tap = join(root, 'node_modules/@tapjs/test/test-built/dist/esm/index.js')
if (existsSync(join(root, '.taprc')) && readFileSync(tap, 'utf8').includes('@tapjs/typescript'))
  npm('exec', '--', 'tap', 'build')
