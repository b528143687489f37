/** Puts the program among the commands of this checkout: without that, `npx tollgate` installs the checkout anew, for 12 s and without a word. */
import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const commands = join(root, 'node_modules/.bin')

// Windows has scripts there in place of links, and takes the slower way.
if (existsSync(commands) && process.platform !== 'win32') {
  const link = join(commands, 'tollgate')
  chmodSync(join(root, 'dist/main.js'), 0o755)
  rmSync(link, { force: true })
  symlinkSync('../../dist/main.js', link)
}
