/**
 * Bundles the program into dist/, because loading hundreds of files takes most of the time of a start: an entry for each process and thread, and
 * chunks that they share. tsc checks the types before.
 */
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { Plugin } from 'esbuild'
import { catalogueModule } from './catalogue.ts'
import { validatorsModule } from './validators.ts'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const dist = join(root, 'dist')

/** What the built program has in place of a file. */
const replaced: Plugin = {
  name: 'replaced',
  setup(program) {
    program.onLoad({ filter: /[\\/]src[\\/]config[\\/]validators\.ts$/ }, () => ({
      contents: validatorsModule(),
      resolveDir: root,
      loader: 'js',
    }))
    program.onLoad({ filter: /[\\/]src[\\/]config[\\/]yaml[\\/]catalogue\.ts$/ }, () => ({
      contents: catalogueModule(),
      loader: 'js',
    }))
    // prom-client asks OpenTelemetry for the span of an exemplar. We have none, and each start would read all of it.
    program.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ importer }) =>
      /[\\/]prom-client[\\/]/.test(importer) ? { path: 'opentelemetry', namespace: 'nothing' } : undefined,
    )
    program.onLoad({ filter: /.*/, namespace: 'nothing' }, () => ({ contents: '', loader: 'js' }))
    // Waiting to export again must not keep a process that has nothing else to do.
    program.onLoad({ filter: /otlp-exporter-base[\\/].*[\\/]retrying-transport\.js$/ }, ({ path }) => ({
      contents: replacedOnce(readFileSync(path, 'utf8'), '}, inMillis);', '}, inMillis).unref();'),
      loader: 'js',
    }))
    // Where a class extends String, V8 compiles `charCodeAt` of any string without inlining it: scanning a call takes 2.2 µs in place of 0.7
    // (bench/redis.ts). ioredis makes such strings only for callers that ask for them; we do not.
    program.onLoad({ filter: /ioredis[\\/]built[\\/]resp[\\/]verbatim-string\.js$/ }, () => ({
      contents: 'exports.VerbatimString = class VerbatimString {}',
      loader: 'js',
    }))
  },
}

function replacedOnce(text: string, from: string, to: string): string {
  if (text.split(from).length !== 2) throw new Error(`"${from}" is not there once`)
  return text.replace(from, to)
}

rmSync(dist, { recursive: true, force: true })
await build({
  absWorkingDir: root,
  outdir: dist,
  entryPoints: {
    main: 'src/main.ts',
    // The same without its process, for the tests.
    program: 'src/commands/program.ts',
    worker: 'src/reload/worker.ts',
    'usage-worker': 'src/stores/sqlite/usage/sums/worker.ts',
    'usage-fleet-worker': 'src/stores/postgres/usage/sums/worker.ts',
    'usage-checkpoints': 'src/stores/sqlite/usage/checkpoint-worker.ts',
    'file-check': 'src/stores/sqlite/check-process.ts',
  },
  bundle: true,
  // Files beside the program (dist/dashboard, ../package.json) are found from any chunk.
  chunkNames: '[name]-[hash]',
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  // Optional parts of ws that are not installed.
  external: ['bufferutil', 'utf-8-validate'],
  // Packages in CommonJS ask for Node's own modules with it.
  banner: {
    js: `import { createRequire as makeRequire } from 'node:module'; const require = makeRequire(import.meta.url);`,
  },
  plugins: [replaced],
  sourcemap: true,
  sourcesContent: false,
  legalComments: 'linked',
  // Node keeps the text of what it has loaded: 2.3 MiB of heap in each process less, and 4 MiB of memory.
  minifyWhitespace: true,
  minifySyntax: true,
  // Node prints the line in which an exception was thrown that nobody caught.
  lineLimit: 200,
  logLevel: 'warning',
})
chmodSync(join(dist, 'main.js'), 0o755)
