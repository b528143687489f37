/** Threads of ours. */
import { Worker } from 'node:worker_threads'
import type { WorkerOptions } from 'node:worker_threads'

/** Where a thread's code is, beside the file that starts it. */
export interface ThreadFile {
  /** The file of that file: its `import.meta.url`. */
  readonly beside: string
  /** In `src/`, and in the built program, both without their ending. */
  readonly source: string
  readonly built: string
}

/** Starts a thread. Run from `src/`, the thread has to learn TypeScript first: Node.js 20 gives loaders to the main thread only. */
export function startThread({ beside, source, built }: ThreadFile, options: WorkerOptions): Worker {
  if (!beside.endsWith('.ts')) return new Worker(new URL(`./${built}.js`, beside), options)
  const [tsx, entry] = [import.meta.resolve('tsx/esm/api'), new URL(`./${source}.ts`, beside).href]
  const code = `import('${tsx}').then(({ register }) => (register(), import('${entry}')))`
  return new Worker(code, { ...options, eval: true })
}
