/** The types of the program: `npm test` builds without looking at them, so that the second core is not idle for as long as that takes. */
import t from 'tap'
import { Child, cleanEnvironment } from './support/child.ts'
import { root } from './support/paths.ts'

t.test('tsc finds nothing wrong with the program', async t => {
  const args = ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json']
  const tsc = new Child(process.execPath, args, cleanEnvironment(), root)
  t.strictSame(await tsc.exited, { code: 0, signal: null }, tsc.stdout)
})
