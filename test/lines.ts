/**
 * Runs the tests of the whole process with the gateway under other lines of Node.js, each installed from the npm registry: `npm run test:lines`, with
 * `-- --short` a few of them on the oldest and the newest. The tests themselves run under the Node.js that is there.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from './support/paths.ts'

/** The oldest that still runs, and one of each line that is supported. */
const versions = ['20.20.0', '22.23.3', '24.21.0', '26.10.0']

const short = ['check', 'drain', 'kill9', 'offers', 'reload'].map(name => `test/e2e/${name}.test.ts`)
const long = [
  ...short,
  ...['demo', 'drain-idle', 'json-output', 'large-reply', 'long-batch', 'process', 'rolling-restart'].map(
    name => `test/e2e/${name}.test.ts`,
  ),
  'test/contract/socket-handshake.test.ts',
  'test/e2e/socket-process.test.ts',
  'test/e2e/usage-export.test.ts',
  'test/edge/bounds.test.ts',
  'test/edge/one-meaning.test.ts',
  'test/edge/tls.test.ts',
  'test/isolation/probes-listener.test.ts',
]

const isShort = process.argv.includes('--short')
const wanted = isShort ? [versions[0]!, versions.at(-1)!] : versions
let failed = false
for (const version of wanted) {
  const node = install(version)
  if (node === null) continue
  const tap = join(root, 'node_modules', '.bin', 'tap')
  const args = ['--jobs=1', '--reporter=tap', ...(isShort ? short : long)]
  const env = { ...process.env, TOLLGATE_NODE: node }
  const { status, stdout } = spawnSync(tap, args, { cwd: root, env, encoding: 'utf8', maxBuffer: 2 ** 30 })
  const [summary = 'no test ran'] = /^# \{.*\}/m.exec(stdout) ?? []
  console.log(`Node.js ${version}: ${summary}`)
  if (status === 0) continue
  failed = true
  for (const line of stdout.split('\n')) if (/^ *not ok/.test(line)) console.log(line)
}
process.exitCode = failed ? 1 : 0

/** The executable of a version; null, with the reason printed, where the registry does not give it. */
function install(version: string): string | null {
  const dir = join(tmpdir(), 'tollgate-lines', version)
  // What the package `node` installs for this system.
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  const node = join(dir, 'node_modules', name, 'bin', 'node')
  if (existsSync(node)) return node
  mkdirSync(dir, { recursive: true })
  try {
    const args = ['install', '--prefix', dir, '--no-save', '--no-audit', '--no-fund', `${name}@${version}`]
    execFileSync('npm', args, { stdio: 'pipe', encoding: 'utf8' })
    return node
  } catch (error) {
    const why = (error as Error & { readonly stderr: string }).stderr.trim().split('\n').at(-1) ?? ''
    console.log(`Node.js ${version}: not tested, ${name} cannot be installed: ${why}`)
    return null
  }
}
