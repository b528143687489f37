/** The loader's thread. */
import { once } from 'node:events'
import { parentPort, workerData } from 'node:worker_threads'
import { loadSnapshot } from '../snapshot/load-snapshot.ts'
import type { LoaderData, LoaderMessage } from './loader.ts'

/** Networks, routes or problems in one message. */
const PIECE = 200

const { dir, env, port } = workerData as LoaderData

function tell(message: LoaderMessage): void {
  parentPort?.postMessage(message)
}

/** Sends a piece and waits until it was taken: what lies ready would all arrive within one turn. */
async function send(message: LoaderMessage): Promise<void> {
  tell(message)
  if (parentPort !== null) await once(parentPort, 'message')
}

function* pieces<T>(list: readonly T[]): Generator<readonly T[]> {
  for (let i = 0; i < list.length; i += PIECE) yield list.slice(i, i + PIECE)
}

async function load(): Promise<void> {
  const { config, snapshot, problems, places } = await loadSnapshot(dir, env, port)
  for (const piece of pieces(problems)) await send({ problems: piece })
  if (config === null || snapshot === null) {
    tell({ rest: null, version: '', places })
    return
  }
  const { networks, routes, ...rest } = config
  for (const piece of pieces(networks)) await send({ networks: piece })
  for (const piece of pieces(routes)) await send({ routes: piece })
  tell({ rest, version: snapshot.version, places })
}

parentPort?.on('message', (word: 'load' | 'next') => {
  if (word === 'load') void load()
})
