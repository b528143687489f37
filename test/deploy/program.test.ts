/** The built program: what it must not hold, whatever its packages do, and what its stacks name. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { sourceStack } from '../../src/observe/source-stack.ts'
import { mainFile } from '../support/paths.ts'

const dist = dirname(mainFile)
const files = readdirSync(dist).filter(name => name.endsWith('.js'))
const textOf = (name: string): string => readFileSync(join(dist, name), 'utf8')

/** The files that are loaded with one, without what it imports later. */
function loadedWith(name: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const [, imported = ''] of textOf(name).matchAll(
    /(?:^|[;}])(?:import|export)[^;()]*?"\.\/([^"]+\.js)"/gm,
  ))
    loadedWith(imported, found)
  return found
}

t.test('bug: a class that extends String made each scanned byte of a call three times as slow', t => {
  t.ok(files.includes('main.js'))
  const texts = files.map(textOf)
  t.ok(
    texts.some(text => text.includes('VerbatimString')),
    'what ioredis has in its place',
  )
  t.strictSame(
    files.filter((_, i) => /extends\s+String\b/.test(texts[i]!)),
    [],
  )
  t.end()
})

t.test('what exports traces, PostgreSQL and Redis are loaded when they are needed', t => {
  const first = [...loadedWith('main.js')]
  t.ok(first.length > 1)
  for (const source of ['observe/tracing/otlp.ts', 'stores/postgres/postgres.ts', 'stores/redis/redis.ts']) {
    const holding = files.filter(name => textOf(`${name}.map`).includes(`/src/${source}"`))
    t.ok(holding.length > 0, source)
    t.strictSame(
      holding.filter(name => first.includes(name)),
      [],
      source,
    )
  }
  t.end()
})

/** A process that fails in the built program, and prints the stack, or leaves that to Node.js. */
function failing(rest = '.catch(({ stack }) => console.log(stack))'): string[] {
  const program = pathToFileURL(join(dist, 'program.js')).href
  return ['-e', `import('${program}').then(({ runProgram }) => runProgram(['--version'], {}))${rest}`]
}

t.test('the log names places in src/, and so does node --enable-source-maps', t => {
  const start = (...flags: string[]): string =>
    execFileSync('env', ['-i', process.execPath, ...flags, ...failing()], { encoding: 'utf8' })
  const stack = start()
  t.match(stack, /at choose \(file:\S+\.js:\d+:\d+\)/)
  t.match(sourceStack(stack), /at choose \(src\/commands\/program\.ts:\d+:\d+\)/)
  t.match(start('--enable-source-maps'), /at choose \(\S*\/src\/commands\/program\.ts:\d+:\d+\)/)
  t.end()
})

t.test('bug: an exception that nobody caught printed up to 390 KB of the program', t => {
  const { status, stderr } = spawnSync('env', ['-i', process.execPath, ...failing('')], { encoding: 'utf8' })
  t.equal(status, 1)
  t.match(stderr, /^file:\S+\.js:\d+\n/)
  const longest = files.flatMap(name =>
    textOf(name)
      .split('\n')
      .map(line => line.length),
  )
  t.ok(Math.max(...longest) < 1000, `a line of ${Math.max(...longest)}`)
  t.end()
})
