/** Loads a configuration in a thread of its own: parsing thousands of lines would hold up calls for seconds. */
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { FILES } from '../config/files.ts'
import type { Problem } from '../config/problem.ts'
import type { Config, NetworkConfig, RouteConfig } from '../config/types.ts'
import { startThread } from '../net/thread.ts'
import type { Places } from '../snapshot/load-snapshot.ts'
import { fingerprint } from './watch.ts'

/**
 * What the thread sends: parts of the lists, then the end. Small pieces keep each arrival short; each waits until the one before
 * was taken.
 */
export type LoaderMessage =
  | { readonly networks: readonly NetworkConfig[] }
  | { readonly routes: readonly RouteConfig[] }
  | { readonly problems: readonly Problem[] }
  | {
      readonly rest: Omit<Config, 'networks' | 'routes'> | null
      readonly version: string
      readonly places: Places
    }

/** What the thread loads. */
export interface LoaderData {
  readonly dir: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** The port that is listened on until the restart, for `{port}` in URLs. */
  readonly port: number
}

/** What a load came to; `config` is null when there is an error. */
export interface LoadedConfig {
  readonly config: Config | null
  /** Of the configuration's content. */
  readonly version: string
  readonly problems: readonly Problem[]
  readonly places: Places
}

/** Milliseconds that the thread waits for another edit: saving a file is rarely done once. */
const STAY = 10_000

/** Loads of files that are written all the time. */
const MOST_TIMES = 5

/** Starts its thread with the first load, and keeps it while edits go on. One load at a time. */
export class Loader {
  readonly #data: LoaderData
  #worker: Worker | null = null
  #leaving: NodeJS.Timeout | undefined

  constructor({ dir, env, port }: LoaderData) {
    this.#data = { dir, env: { ...env }, port }
  }

  /** Loads the directory apart from this thread, again where a file was written meanwhile: it may have been read when it was half written. */
  async load(): Promise<LoadedConfig> {
    const files = FILES.map(file => join(this.#data.dir, file))
    for (let times = 1; ; times += 1) {
      const before = await fingerprint(files)
      const loaded = await this.#loadOnce()
      if (times === MOST_TIMES || before === (await fingerprint(files))) return loaded
    }
  }

  async #loadOnce(): Promise<LoadedConfig> {
    clearTimeout(this.#leaving)
    const worker = this.#worker ?? this.#start()
    try {
      return await ask(worker)
    } catch (error) {
      await this.close()
      throw error
    } finally {
      this.#leaving = setTimeout(() => void this.close(), STAY).unref()
    }
  }

  #start(): Worker {
    const file = { beside: import.meta.url, source: 'worker', built: 'worker' }
    const worker = startThread(file, { workerData: this.#data })
    worker.unref()
    worker.on('error', () => undefined)
    worker.on('exit', () => {
      if (this.#worker === worker) this.#worker = null
    })
    this.#worker = worker
    return worker
  }

  /** Ends the thread. */
  async close(): Promise<void> {
    const worker = this.#worker
    this.#worker = null
    await worker?.terminate()
  }
}

function ask(worker: Worker): Promise<LoadedConfig> {
  return new Promise((resolve, reject) => {
    const networks: NetworkConfig[] = []
    const routes: RouteConfig[] = []
    const problems: Problem[] = []
    const hear = (message: LoaderMessage): void => {
      if ('networks' in message) networks.push(...message.networks)
      else if ('routes' in message) routes.push(...message.routes)
      else if ('problems' in message) problems.push(...message.problems)
      else {
        const { rest, version, places } = message
        worker.off('message', hear).off('error', reject).off('exit', ended)
        resolve({ config: rest === null ? null : { ...rest, networks, routes }, version, problems, places })
        return
      }
      setImmediate(() => {
        worker.postMessage('next')
      })
    }
    const ended = (code: number): void => {
      reject(new Error(`the loader ended with ${code}`))
    }
    worker.on('message', hear).on('error', reject).on('exit', ended)
    worker.postMessage('load')
  })
}
