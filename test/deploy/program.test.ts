/** The built program: what it must not hold, whatever its packages do, and how its script is loaded. */
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { dist, presentBuild } from '../../build/publish.ts'
import { openScript, runScript, writeBytecode } from '../../build/script.ts'
import { sourceStack } from '../../src/observe/source-stack.ts'
import { mainFile as main } from '../support/paths.ts'

const built = join(dist, presentBuild()!)
const files = readdirSync(built).filter(name => /\.c?js$/.test(name))
/** All commands. */
const script = 'program.cjs'

t.test('bug: a class that extends String made each scanned byte of a call three times as slow', t => {
  t.ok(files.includes('main.js'))
  const texts = files.map(name => readFileSync(join(built, name), 'utf8'))
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

t.test('what exports traces is evaluated when it is asked for, and not before', t => {
  const text = readFileSync(join(built, script), 'utf8').replaceAll(/\\?\n\s*/g, '')
  t.match(text, /init_otlp=__esm\(\{"src\/observe\/tracing\/otlp\.ts"\(\)\{/, 'an initializer')
  const called = text.split('init_otlp()').length - 1
  const lazily = text.split('.then(()=>(init_otlp(),').length - 1
  t.ok(called > 0)
  t.equal(lazily, called)
  t.end()
})

/** A process of the program, without what the test runner puts in the environment; what it printed. */
function start(flags: readonly string[], words: readonly string[]): string {
  return execFileSync('env', ['-i', process.execPath, ...flags, ...words], { encoding: 'utf8' })
}

t.test('Node.js takes the bytecode that the build made, and with flags of V8 does without', t => {
  const url = pathToFileURL(join(built, script))
  t.equal(openScript(url).cachedDataRejected, false)
  t.match(start([], [main, '--version']), /^\d/)
  t.match(start(['--max-old-space-size=200'], [main, '--version']), /^\d/)
  t.end()
})

/** A process that fails in the script of a built program, and prints the stack, or leaves that to Node.js. */
function failing(folder: string, rest = '.catch(({ stack }) => console.log(stack))'): string[] {
  const program = pathToFileURL(join(folder, 'program.js')).href
  return ['-e', `import('${program}').then(({ runProgram }) => runProgram(['--version'], {}))${rest}`]
}

t.test('node --enable-source-maps maps stacks of the script', t => {
  t.match(
    start(['--enable-source-maps'], failing(built)),
    /at choose \(\S*\/src\/commands\/program\.ts:\d+:\d+\)/,
  )
  t.end()
})

t.test('bug: a stack named the folder where the program had been built, and the log no place in src/', t => {
  const folder = join(t.testdir(), 'a (b) %41 ü', 'build')
  cpSync(built, folder, { recursive: true })
  const url = pathToFileURL(join(folder, script))
  t.equal(openScript(url).cachedDataRejected, false)
  const stack = start([], failing(folder))
  t.match(stack, /at choose \(program\.cjs:\d+:\d+\)/)
  t.match(sourceStack(stack, url.href), /at choose \(src\/commands\/program\.ts:\d+:\d+\)/, 'as in the log')
  t.end()
})

t.test('bug: an exception that nobody caught printed up to 390 KB of the script', t => {
  const { status, stderr } = spawnSync('env', ['-i', process.execPath, ...failing(built, '')], {
    encoding: 'utf8',
  })
  t.equal(status, 1)
  t.match(stderr, /^program\.cjs:\d+\n/)
  const longest = files.flatMap(name =>
    readFileSync(join(built, name), 'utf8')
      .split('\n')
      .map(line => line.length),
  )
  t.ok(Math.max(...longest) < 1000, `a line of ${Math.max(...longest)}`)
  t.end()
})

t.test('a Node.js of the same version that was compiled in another way does without the bytecode', t => {
  const config = Object.getOwnPropertyDescriptor(process, 'config')!
  const variables = { ...process.config.variables, v8_enable_i18n_support: 0 }
  Object.defineProperty(process, 'config', { ...config, value: { ...process.config, variables } })
  t.teardown(() => Object.defineProperty(process, 'config', config))
  t.equal(openScript(pathToFileURL(join(built, script))).cachedDataRejected, undefined)
  t.end()
})

t.test('bytecode that is damaged, cut or empty is not given to V8', t => {
  const file = join(t.testdir(), 'small.cjs')
  const url = pathToFileURL(file)
  const body = 'module.exports={runProgram:()=>"it ran"}'
  writeFileSync(file, `(function(module,require,url){${body}})`)
  const made = openScript(url)
  t.equal(made.cachedDataRejected, undefined, 'there is none')
  runScript(made, url)
  writeBytecode(made, url)
  t.equal(openScript(url).cachedDataRejected, false)
  const [bytecode] = readdirSync(t.testdirName)
    .filter(name => name !== 'small.cjs')
    .map(name => join(t.testdirName, name))
  t.equal(statSync(bytecode!).mode & 0o777, 0o644)
  const sound = readFileSync(bytecode!)
  const damaged = [sound.subarray(0, -1), Buffer.alloc(0), Buffer.alloc(3)]
  for (let at = 0; at < sound.length; at += 7) {
    const flipped = Buffer.from(sound)
    flipped[at]! ^= 0x10
    damaged.push(flipped)
  }
  for (const content of damaged) {
    writeFileSync(bytecode!, content)
    const script = openScript(url)
    if (script.cachedDataRejected !== undefined) t.fail(`it was given to V8: ${content.length} bytes`)
  }
  const program = runScript(openScript(url), url) as { runProgram: () => unknown }
  t.equal(program.runProgram(), 'it ran')
  t.end()
})
