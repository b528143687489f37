/** Bundles the tests with what they import: to load hundreds of TypeScript files anew for each of them takes longer than most run. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { Metafile, Plugin } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const target = join(root, '.tap/built')

/** A file goes on knowing where it stands: fixtures, and threads and processes that it starts, are beside it. */
const inPlace: Plugin = {
  name: 'in-place',
  setup(tests) {
    tests.onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (path.includes('node_modules')) return undefined
      const place: Readonly<Record<string, string>> = {
        url: pathToFileURL(path).href,
        dirname: dirname(path),
        filename: path,
      }
      const contents = readFileSync(path, 'utf8').replace(
        /\bimport\.meta\.(url|dirname|filename)\b/g,
        (_, name: string) => JSON.stringify(place[name]),
      )
      return { contents, loader: 'ts' }
    })
  },
}

/** What tests start processes with. */
const STARTERS = ['test/support/child.ts', 'test/support/servers.ts']

/**
 * Bundles all into .tap/built/, and gives the files of JavaScript by the files of test/ that they are made of. Those that start processes come
 * first: they take seconds, and the short ones fill what is left at the end.
 */
export async function bundleTests(): Promise<ReadonlyMap<string, string>> {
  rmSync(target, { recursive: true, force: true })
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ['test/**/*.test.ts'],
    outdir: target,
    outbase: 'test',
    chunkNames: 'shared/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    // Optional parts of ws that are not installed, and packages that look for files beside theirs.
    external: [
      'bufferutil',
      'utf-8-validate',
      'esbuild',
      'playwright-core',
      '@seriousme/openapi-schema-validator',
      '@wasm-fmt/gofmt',
      'typescript',
    ],
    // Packages in CommonJS ask for Node's own modules with it.
    banner: {
      js: `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`,
    },
    plugins: [inPlace],
    metafile: true,
    sourcemap: true,
    sourcesContent: false,
    logLevel: 'warning',
  })
  for (const [file, { inputs }] of Object.entries(metafile.outputs))
    if (file.endsWith('.js') && Object.keys(inputs).every(input => input.includes('node_modules')))
      mapCoarsely(join(root, file), Object.keys(inputs))
  const built = Object.entries(metafile.outputs).flatMap(([file, { entryPoint }]) =>
    entryPoint?.endsWith('.test.ts') === true
      ? [{ test: entryPoint, file, rank: startsProcesses(metafile, file) ? 0 : 1 }]
      : [],
  )
  built.sort((a, b) => a.rank - b.rank || (a.test < b.test ? -1 : 1))
  return new Map(built.map(({ test, file }) => [test, join(root, file)]))
}

/** Whether a bundled file, or one that it imports, holds something that starts processes. */
function startsProcesses(
  { outputs }: Pick<Metafile, 'outputs'>,
  file: string,
  seen = new Set<string>(),
): boolean {
  const output = outputs[file]
  if (output === undefined || seen.has(file)) return false
  seen.add(file)
  if (STARTERS.some(starter => starter in output.inputs)) return true
  return output.imports.some(({ path }) => startsProcesses({ outputs }, path, seen))
}

/**
 * Maps the whole of a file to one of the packages that it is made of, of tap's where it has any, as stacks are cut by the package of a line.
 * Nobody reads further there, and each test would parse the megabytes of its real map.
 */
function mapCoarsely(file: string, inputs: readonly string[]): void {
  const source = inputs.find(input => input.includes('@tapjs/')) ?? inputs[0] ?? ''
  const sources = [relative(dirname(file), join(root, source))]
  writeFileSync(`${file}.map`, JSON.stringify({ version: 3, sources, names: [], mappings: 'AAAA' }))
}
