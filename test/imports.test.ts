import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** Which modules a module may import, type imports included. `app` is what stands right in src/. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  jsonrpc: [],
  config: ['package', 'file-words'],
  sqlite: ['file-words'],
  cache: [],
  budget: [],
  snapshot: ['config'],
  observe: ['jsonrpc', 'snapshot'],
  accounts: ['jsonrpc', 'snapshot', 'sqlite', 'cache'],
  usage: ['jsonrpc', 'snapshot', 'sqlite', 'cache'],
  upstream: ['jsonrpc', 'snapshot', 'cache', 'budget'],
  pipeline: ['jsonrpc', 'config', 'snapshot', 'accounts', 'usage', 'upstream', 'observe', 'budget'],
  service: ['snapshot', 'accounts', 'usage'],
  server: ['jsonrpc', 'config', 'snapshot', 'cache', 'usage', 'pipeline', 'gateway', 'budget'],
  gateway: ['jsonrpc', 'snapshot', 'usage', 'upstream', 'pipeline', 'budget'],
}

/** What composes the others. */
const everybody = new Set(['app', 'commands', 'reload'])

/** Modules of which the pipeline knows only the types: it gets the live parts handed in. */
const typesOnly = new Set(['accounts', 'usage', 'upstream', 'observe', 'budget'])

interface Import {
  readonly from: string
  readonly to: string
  readonly type: boolean
}

const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.ts'))

const imports: readonly Import[] = files.flatMap(file => {
  const text = readFileSync(join(src, file), 'utf8')
  const found = text.matchAll(/^(?:import|export)\s(type\s)?[^'"]*?from\s'(\.[^']+)'|import\('(\.[^']+)'\)/gm)
  return [...found].map(([, type, named, dynamic]) => ({
    from: file,
    to: relative(src, join(src, dirname(file), named ?? dynamic ?? '')),
    type: type !== undefined,
  }))
})

/** Files of src/ itself that count as modules of their own; the rest is `app`. */
const alone: Readonly<Record<string, string>> = {
  'gateway.ts': 'gateway',
  'package-file.ts': 'package',
  'file-words.ts': 'file-words',
}

/** The folder of a file, or what it is by itself. */
function moduleOf(file: string): string {
  const [first = '', second] = file.split('/')
  if (second !== undefined) return first
  return alone[file] ?? 'app'
}

t.test('imports point one way', t => {
  t.ok(imports.length > 300, `${imports.length} imports were found`)
  for (const { from, to } of imports) {
    const [importer, imported] = [moduleOf(from), moduleOf(to)]
    if (importer === imported || everybody.has(importer)) continue
    t.ok(allowed[importer]?.includes(imported), `${from} → ${to}`)
  }
  t.end()
})

t.test('the pipeline knows only the types of the live parts', t => {
  const used = imports.filter(({ from, to }) => moduleOf(from) === 'pipeline' && typesOnly.has(moduleOf(to)))
  t.ok(used.length > 5)
  for (const { from, to, type } of used) t.ok(type, `${from} → ${to}`)
  t.end()
})

t.test('every imported file is there, and no import goes in a circle', t => {
  const targets = new Map<string, string[]>()
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to])
  for (const { from, to } of imports) t.ok(files.includes(to), `${from} → ${to}`)
  const done = new Set<string>()
  const visit = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) t.fail([...path.slice(path.indexOf(file)), file].join(' → '))
    else if (!done.has(file)) for (const to of targets.get(file) ?? []) visit(to, [...path, file])
    done.add(file)
  }
  for (const file of files) visit(file, [])
  t.end()
})

t.test('files, sockets, the environment and the clock are touched only at the edges', t => {
  const pure = ['jsonrpc', 'snapshot', 'pipeline', 'service']
  const edges =
    /process\.env|Date\.now\(|from 'node:(fs|net|http|https|dns)'|from 'undici'|from '@photostructure\/sqlite'/
  for (const file of files.filter(file => pure.includes(moduleOf(file))))
    t.notMatch(readFileSync(join(src, file), 'utf8'), edges, file)
  t.end()
})
