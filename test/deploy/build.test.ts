/** Builds of a checkout whose program runs: dist/ has a whole program at any moment. */
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { presentBuild } from '../../build/publish.ts'
import { Child, cleanEnvironment } from '../support/child.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { nodeFile, root } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'
import type { Teardown } from '../support/teardown.ts'
import { until } from '../support/until.ts'
import { crewOf, kill9, restart } from '../support/workers.ts'

/** A line of `--help`, by which builds differ. */
const SUMMARY = 'list who used most'

/** Made behind a build, of what it has made. */
const BYTECODE = 'program.cjs.v20'

/** Workers that are killed in one build at most. */
const KILLS = 4

/** A checkout with the packages and the present build of this one. */
class Checkout {
  readonly dir: string
  readonly main: string

  constructor(dir: string) {
    this.dir = dir
    this.main = join(dir, 'dist/main.js')
    const built = ['main.js', 'program.js', 'dashboard', presentBuild()!].map(name => `dist/${name}`)
    for (const name of ['build', 'src', 'schema', 'package.json', 'methods.yaml', ...built])
      cpSync(join(root, name), join(dir, name), { recursive: true })
    symlinkSync(join(root, 'node_modules'), join(dir, 'node_modules'))
  }

  /** Has `--help` say something else from the next build on. */
  edit(summary: string): void {
    const file = join(this.dir, 'src/commands/program.ts')
    writeFileSync(file, readFileSync(file, 'utf8').replace(/(?<=top: \{\s+summary: ').*(?=',)/, summary))
  }

  /** The bundles, which is all of a build that others wait for. */
  build(): Child {
    return new Child(nodeFile, ['--import=tsx', 'build/program.ts'], cleanEnvironment(), this.dir)
  }

  /** What the program says now. */
  async help(): Promise<string> {
    const help = new Child(nodeFile, [this.main, '--help'], cleanEnvironment())
    const { code } = await help.exited
    return /^ {2}top +(.+)$/m.exec(help.stdout)?.[1] ?? `code ${String(code)}: ${help.stderr}`
  }

  /** Everything in a folder of dist/, by its name. */
  files(folder: string): Record<string, string> {
    const path = join(this.dir, 'dist', folder)
    return Object.fromEntries(readdirSync(path).map(name => [name, readFileSync(join(path, name), 'latin1')]))
  }

  get builds(): string[] {
    return readdirSync(join(this.dir, 'dist')).filter(
      name => !['dashboard', 'main.js', 'program.js'].includes(name),
    )
  }
}

async function checkout(t: Teardown): Promise<Checkout> {
  return new Checkout(await tempDir(t))
}

/** Repeats something while a process runs, at least once. */
async function meanwhile(process: Child, act: () => Promise<void>): Promise<void> {
  const running = { is: true }
  void process.exited.then(() => (running.is = false))
  do await act()
  while (running.is)
}

t.test('bug: a program that was started amid a build was not there, or a part of it', async t => {
  const checked = await checkout(t)
  const [first] = checked.builds
  const before = checked.files(first!)
  checked.edit('a second build')
  const build = checked.build()
  const said = new Set<string>()
  await meanwhile(build, async () => void said.add(await checked.help()))
  t.same(await build.exited, { code: 0, signal: null }, build.stderr)
  t.strictSame(
    [...said].filter(line => ![SUMMARY, 'a second build'].includes(line)),
    [],
  )
  t.equal(await checked.help(), 'a second build')
  t.strictSame(checked.files(first!), before, 'what runs of the first build goes on with its files')
  checked.edit('a third build')
  t.same(await checked.build().exited, { code: 0, signal: null })
  t.equal(await checked.help(), 'a third build')
  t.equal(checked.builds.length, 2)
  t.notOk(checked.builds.includes(first!), 'nobody is to run the first any more')
})

t.test('bug: a build that fails left no program', async t => {
  const checked = await checkout(t)
  const before = checked.builds
  writeFileSync(join(checked.dir, 'src/commands/top.ts'), 'export const top = ')
  const build = checked.build()
  t.same(await build.exited, { code: 1, signal: null })
  t.match(build.stderr, /src\/commands\/top\.ts/)
  t.equal(await checked.help(), SUMMARY)
  writeFileSync(join(checked.dir, 'src/commands/top.ts'), readFileSync(join(root, 'src/commands/top.ts')))
  t.same(await checked.build().exited, { code: 0, signal: null })
  const [made] = checked.builds.filter(name => !before.includes(name))
  t.strictSame(checked.builds.sort(), [...before, made].sort(), 'what the failed one has left is gone')
})

t.test('the same sources make the same build, and mend it where it was damaged', async t => {
  const checked = await checkout(t)
  t.same(await checked.build().exited, { code: 0, signal: null })
  const present = presentBuild(join(checked.dir, 'dist'))!
  const whole = checked.files(present)
  const { builds } = checked
  writeFileSync(join(checked.dir, 'dist', present, 'main.js'), '')
  writeFileSync(join(checked.dir, 'dist', present, BYTECODE), 'it is kept')
  t.same(await checked.build().exited, { code: 0, signal: null })
  t.equal(presentBuild(join(checked.dir, 'dist')), present)
  t.strictSame(checked.files(present), { ...whole, [BYTECODE]: 'it is kept' })
  t.equal(builds.length, 2)
  t.strictSame(checked.builds, builds, 'the one before stays, too')
})

t.test('workers that are killed amid a build come back, and a restart takes the new one', async t => {
  const checked = await checkout(t)
  const node = await startNode(t, { chainId: 1001 })
  const gateway = await startGateway(
    t,
    {
      networks: { alpha: { chainId: 1001 } },
      routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
      methods: fewMethods,
      gateway: { workers: 2, timeouts: { drain: '5s', drainIdle: '200ms' } },
    },
    { within: ['sh', '-c', 'node=$1; shift 2; exec "$node" "$0" "$@"', checked.main] },
  )
  checked.edit('a second build')
  const build = checked.build()
  let killed = 0
  await meanwhile(build, async () => {
    const { workers } = await crewOf(gateway, 2)
    // Each that did not serve for a second comes back later than the one before.
    if (killed === KILLS) return pause(50)
    kill9(workers[0]!)
    killed += 1
    await until('another one', async () => !(await crewOf(gateway, 2)).workers.includes(workers[0]!))
  })
  t.same(await build.exited, { code: 0, signal: null }, build.stderr)
  t.equal(gateway.printed.split('has ended').length - 1, killed, gateway.printed)
  const before = await crewOf(gateway, 2)
  t.equal((await restart(gateway)).status, 202)
  await until('all are new', async () => {
    const { keeper, workers } = await crewOf(gateway, 2)
    return ![keeper, ...workers].some(pid => [before.keeper, ...before.workers].includes(pid))
  })
  t.same(await gateway.stop(), { code: 0, signal: null })
})
