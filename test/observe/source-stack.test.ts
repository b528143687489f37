import { buildSync } from 'esbuild'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { sourceStack } from '../../src/observe/source-stack.ts'

t.test('a stack names the file and line that were bundled', t => {
  const dir = t.testdir({
    src: {
      'main.ts': `import { fail } from './deep/fail.ts'\ntry {\n  fail('now')\n} catch (error) {\n  console.log(error.stack)\n}\n`,
      deep: { 'fail.ts': '\n\nexport function fail(word: string): never {\n  throw new Error(word)\n}\n' },
    },
  })
  const outfile = join(dir, 'dist/main.js')
  buildSync({
    entryPoints: [join(dir, 'src/main.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    sourcemap: true,
    minifyWhitespace: true,
    minifySyntax: true,
  })
  // In a process of its own, without what the test runner puts in the environment: that maps stacks already.
  const stack = execFileSync('env', ['-i', process.execPath, outfile], { encoding: 'utf8' })
  t.match(stack, /main\.js:\d+:\d+/)
  const [words, first, second] = sourceStack(stack).split('\n')
  t.equal(words, 'Error: now')
  t.equal(first, '    at fail (src/deep/fail.ts:4:9)')
  t.equal(second, '    at src/main.ts:3:3')
  t.end()
})

t.test('other places stay as they are', t => {
  const dir = t.testdir({ 'bare.js': '', 'broken.js': '', 'broken.js.map': '{' })
  const stack = `Error: x
    at one (${pathToFileURL(join(dir, 'bare.js')).href}:1:2)
    at two (${pathToFileURL(join(dir, 'broken.js')).href}:1:2)
    at node:internal/process/task_queues:95:5`
  t.equal(sourceStack(stack), stack)
  t.end()
})
