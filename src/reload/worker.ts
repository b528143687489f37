/** The loader's thread. */
import { parentPort, workerData } from 'node:worker_threads'
import { loadSnapshot } from '../load-snapshot.ts'
import type { LoaderMessage } from './loader.ts'

/** Networks or routes in one message. */
const PIECE = 200

const { dir, env } = workerData as { readonly dir: string; readonly env: Readonly<Record<string, string>> }

function send(message: LoaderMessage): void {
  parentPort?.postMessage(message)
}

function* pieces<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < list.length; i += PIECE) yield list.slice(i, i + PIECE)
}

const { config, problems, plansAt } = await loadSnapshot(dir, env)
if (config === null) send({ rest: null, problems, plansAt })
else {
  const { networks, routes, ...rest } = config
  for (const piece of pieces(networks)) send({ networks: piece })
  for (const piece of pieces(routes)) send({ routes: piece })
  send({ rest, problems, plansAt })
}
