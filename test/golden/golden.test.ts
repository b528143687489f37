/**
 * One case a file: `features/*.yaml` and the lines of the dump that they change, `findings/*.yaml` and the problems they
 * have, `explain/*.yaml` and what `tollgate explain` says. WRITE_GOLDEN=1 writes the expected texts anew: read the diff.
 */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { dump as dumpCommand } from '../../src/commands/dump.ts'
import { formatProblem } from '../../src/config/problem.ts'
import { loadSnapshot } from '../../src/snapshot/load-snapshot.ts'
import { dump } from '../../src/snapshot/dump.ts'
import { base, readCase, readFolder, writeCase, type Case } from './case.ts'
import { excerpt } from './excerpt.ts'
import { explained } from './explained.ts'
import { changes, type Likeness } from './flatten.ts'

const renew = process.env['WRITE_GOLDEN'] !== undefined
const root = t.testdir()
let directories = 0

/** Loads a case, as `check` does. */
async function load(written: Case) {
  const dir = join(root, String(directories++))
  writeCase(dir, written)
  return { dir, ...(await loadSnapshot(dir, written.env)) }
}

/** The dump, but for its versions, which are hashes of everything, and the problems. */
async function dumpOf(written: Case): Promise<{ dumped: Dump; warnings: string[] }> {
  const { dir, snapshot, problems } = await load(written)
  const warnings = problems.map(formatProblem)
  if (snapshot === null) throw new Error(warnings.join('\n'))
  const { version, sharedVersion, ...rest } = dump(snapshot) as Record<'version' | 'sharedVersion', string>
  for (const each of [version, sharedVersion])
    if (!/^[0-9a-f]{12}$/.test(each)) throw new Error(`"${each}" is no version`)
  return { dumped: JSON.parse(JSON.stringify(rest).replaceAll(dir, '<dir>')) as Dump, warnings }
}

interface Dump {
  readonly networks: Readonly<Record<string, DumpedNetwork>>
}

interface DumpedNetwork {
  readonly methods: Readonly<Record<string, unknown>>
  readonly routes: readonly unknown[]
}

const { dumped: dumpOfBase } = await dumpOf({ files: base, env: {}, notes: {} })
/** What cases with a methods.yaml of their own are compared with. */
const { dumped: dumpOfOneMethod } = await dumpOf(
  readCase('# methods.yaml\nfamilies: { evm: { eth_gasPrice: {} } }\n'),
)

const network = dumpOfOneMethod.networks['ethereum']!

const likeness: Likeness = value => {
  if (typeof value !== 'object' || value === null) return null
  if ('rule' in value) return { name: 'an empty rule', like: network.methods['eth_gasPrice'] }
  if ('family' in value) return { name: 'ethereum', like: network }
  return 'priority' in value ? { name: 'ethereum-b', like: network.routes[1] } : null
}

/** How each folder turns a case into its text. */
const renderers: Readonly<Record<string, (written: Case) => Promise<readonly string[]>>> = {
  features: async written => {
    const { dumped, warnings } = await dumpOf(written)
    const before = written.files['methods.yaml'] === base['methods.yaml'] ? dumpOfBase : dumpOfOneMethod
    return [...changes(before, dumped, likeness), ...warnings]
  },
  findings: async written => {
    const { problems } = await load(written)
    return problems.flatMap(problem => [formatProblem(problem), ...excerpt(problem, written.files)])
  },
  explain: async written => {
    const { dir, snapshot } = await load(written)
    return explained(written, dir, snapshot!)
  },
}

t.test('the dump command prints the base as JSON, always the same text', async t => {
  const { dir } = await load({ files: base, env: {}, notes: {} })
  const lines: string[] = []
  const io = {
    env: {},
    program: 'tollgate',
    drained: () => Promise.resolve(true),
    out: (text: string) => lines.push(...text.split('\n')),
    err: (text: string) => t.fail(text),
  }
  t.equal(await dumpCommand.run(['--config', dir], io), 0)
  hold(t, 'base.json', lines, readFolder('.')['base.json'])
})

for (const [folder, render] of Object.entries(renderers))
  t.test(folder, async t => {
    const texts = readFolder(folder)
    const names = Object.keys(texts).filter(name => name.endsWith('.yaml'))
    t.ok(names.length > 10)
    for (const name of names) {
      const lines = await render(readCase(texts[name]!))
      t.ok(lines.length > 0, `${folder}/${name} says something`)
      hold(t, `${folder}/${name.replace(/yaml$/, 'txt')}`, lines, texts[name.replace(/yaml$/, 'txt')])
    }
    for (const name of Object.keys(texts).filter(name => !names.includes(name.replace(/txt$/, 'yaml'))))
      if (renew) rmSync(new URL(`${folder}/${name}`, import.meta.url))
      else t.fail(`${folder}/${name} has no YAML beside it`)
  })

t.test('every key that a schema has is in some feature', t => {
  const written = Object.values(readFolder('features')).join('\n')
  for (const [file, text] of Object.entries(readFolder('../../schema'))) {
    const names = new Set<string>()
    JSON.parse(text, (_, value: { properties?: object } | null) => {
      for (const name of Object.keys(value?.properties ?? {})) names.add(name)
      return value
    })
    t.ok(names.size > 5, file)
    for (const name of names) t.match(written, new RegExp(`\\b${name}:`), `${file}: ${name}`)
  }
  t.end()
})

/** Compares with the text that is kept, or writes it. */
function hold(t: Test, name: string, lines: readonly string[], kept: string | undefined): void {
  const text = `${lines.join('\n')}\n`
  // What a problem's excerpt shows is the case itself; a problem, a dump and an explanation never hold a secret.
  const told = lines.filter(line => !name.startsWith('findings') || !line.startsWith('    ')).join('\n')
  t.notMatch(told, /operator-secret|example\.test:\d/, `${name} tells no secret`)
  if (renew) writeFileSync(new URL(name, import.meta.url), text)
  else if (kept === undefined) t.fail(`${name} is missing; WRITE_GOLDEN=1 writes it`)
  else t.strictSame(text.split('\n'), kept.split('\n'), name)
}
