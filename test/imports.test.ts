import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const src = fileURLToPath(new URL('../src', import.meta.url))

/** The folders of src/, each above those that it may import, types included. */
const order = [
  'refusal',
  'jsonrpc',
  'net',
  'config',
  'snapshot',
  'ports',
  'limits',
  'families',
  'stores',
  'observe',
  'alerts',
  'routes',
  'call',
  'subscriptions',
  'management',
  'http',
  'api',
  'reload',
  'runtime',
  'early-signals.ts',
  'commands',
  'run.ts',
  'main.ts',
]

/** What the order allows and the parts should still not know of each other. */
const apart: Readonly<Record<string, readonly string[]>> = {
  config: ['refusal', 'jsonrpc'],
  stores: ['families'],
  management: ['call', 'routes', 'subscriptions', 'observe', 'families'],
  http: ['management', 'observe', 'stores/sqlite/accounts', 'routes'],
  api: ['call', 'observe', 'stores', 'routes', 'subscriptions', 'limits'],
}

/** Folders of which a call knows only the types: it gets the live parts handed in. */
const typesOnly = new Set(['stores', 'routes', 'observe'])

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

function shown({ from, to }: Import): string {
  return `${from} → ${to}`
}

/** The folder of a file, or its own name where it stands right in src/. */
function folderOf(file: string): string {
  return file.split('/')[0]!
}

t.test('imports point one way', t => {
  t.ok(imports.length > 300, `${imports.length} imports were found`)
  t.strictSame(
    files.filter(file => !order.includes(folderOf(file))),
    [],
    'every file is in a folder of the order',
  )
  const between = imports.filter(({ from, to }) => folderOf(from) !== folderOf(to))
  const up = between.filter(({ from, to }) => order.indexOf(folderOf(from)) < order.indexOf(folderOf(to)))
  t.strictSame(up.map(shown), [], 'no import climbs up')
  const across = between.filter(({ from, to }) =>
    apart[folderOf(from)]?.some(part => `${to}/`.startsWith(`${part}/`)),
  )
  t.strictSame(across.map(shown), [], 'no part knows one that it is kept apart from')
  t.end()
})

t.test('a folder holds one idea: at most 25 files', t => {
  const counts = new Map<string, number>()
  for (const file of files) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1)
  t.strictSame(
    [...counts].filter(([, count]) => count > 25),
    [],
  )
  t.end()
})

t.test('a call knows only the types of the live parts', t => {
  const used = imports.filter(({ from, to }) => folderOf(from) === 'call' && typesOnly.has(folderOf(to)))
  t.ok(used.length > 5)
  t.strictSame(used.filter(({ type }) => !type).map(shown), [])
  t.end()
})

t.test('every imported file is there, and no import goes in a circle', t => {
  const targets = new Map<string, string[]>()
  for (const { from, to } of imports) targets.set(from, [...(targets.get(from) ?? []), to])
  t.strictSame(imports.filter(({ to }) => !files.includes(to)).map(shown), [])
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
  const pure = ['refusal', 'jsonrpc', 'snapshot', 'families', 'call', 'management']
  const edges =
    /process\.env|Date\.now\(|from 'node:(fs|net|http|https|dns)'|from 'undici'|from '@photostructure\/sqlite'/
  const touching = files.filter(
    file => pure.includes(folderOf(file)) && edges.test(readFileSync(join(src, file), 'utf8')),
  )
  t.strictSame(touching, [])
  t.end()
})

t.test('docs/architecture.md names files that are there', t => {
  const root = join(src, '..')
  const text = readFileSync(join(root, 'docs/architecture.md'), 'utf8')
  let folder = ''
  let named = 0
  for (const [, heading, path] of text.matchAll(/^\*\*([a-z]+)\*\*|`([\w/-]+\.(?:ts|js))`/gm)) {
    if (heading !== undefined) {
      folder = heading
      t.ok(order.includes(folder), folder)
    } else if (path?.endsWith('.ts') === true) {
      named += 1
      const isThere = files.some(
        file => file === path || (file.startsWith(folder) && file.endsWith(`/${path}`)),
      )
      t.ok(isThere || existsSync(join(root, path)), `${folder}: ${path}`)
    }
  }
  t.ok(named > 50)
  t.strictSame(
    order.filter(name => !name.endsWith('.ts') && !text.includes(`\n**${name}** `)),
    [],
    'every folder has its paragraph',
  )
  t.end()
})
