/** Bundles the browser program into dist/dashboard: hashed names, and each file compressed beside itself. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

const here = dirname(fileURLToPath(import.meta.url))
const target = join(here, '../dist/dashboard')

const { outputFiles, metafile } = await build({
  absWorkingDir: here,
  entryPoints: ['src/main.tsx', 'src/style.css', 'src/icon.svg'],
  outdir: join(target, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  target: ['chrome111', 'firefox113', 'safari16.4'],
  jsx: 'automatic',
  jsxImportSource: 'preact',
  loader: { '.svg': 'copy' },
  legalComments: 'none',
  minify: true,
  metafile: true,
  write: false,
})

/** The name under which an entry point was written. */
function nameOf(entry: string): string {
  const found = Object.entries(metafile.outputs).find(
    ([, { entryPoint, inputs }]) => entryPoint === entry || Object.keys(inputs).join() === entry,
  )
  if (found === undefined) throw new Error(`esbuild wrote nothing for ${entry}`)
  return basename(found[0])
}

function write(file: string, content: Uint8Array): void {
  writeFileSync(file, content)
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }))
}

const [made, before] = [`${target}.new`, `${target}.old`]
for (const left of [made, before]) rmSync(left, { recursive: true, force: true })
mkdirSync(join(made, 'assets'), { recursive: true })
for (const { path, contents } of outputFiles) write(join(made, relative(target, path)), contents)
const page = readFileSync(join(here, 'src/index.html'), 'utf8').replaceAll(
  /\{\{(\S+)\}\}/g,
  (_, entry: string) => `/assets/${nameOf(`src/${entry}`)}`,
)
write(join(made, 'index.html'), Buffer.from(page))
// A gateway may start at any moment.
if (existsSync(target)) renameSync(target, before)
renameSync(made, target)
rmSync(before, { recursive: true, force: true })
