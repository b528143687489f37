/** Loads a configuration in a thread of its own: parsing thousands of lines would hold up calls for seconds. */
import { Worker } from 'node:worker_threads'
import type { Problem } from '../config/problem.ts'
import type { Config, NetworkConfig, RouteConfig } from '../config/types.ts'
import type { Place } from '../load-snapshot.ts'

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
      readonly plansAt: Place
    }

/** What a load came to; `config` is null when there is an error. */
export interface LoadedConfig {
  readonly config: Config | null
  /** Of the configuration's content. */
  readonly version: string
  readonly problems: readonly Problem[]
  readonly plansAt: Place
}

/** Loads `dir` apart from this thread. */
export function loadApart(
  dir: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<LoadedConfig> {
  const own = import.meta.url
  const worker = new Worker(new URL(`./worker${own.slice(own.lastIndexOf('.'))}`, own), {
    workerData: { dir, env: { ...env } },
  })
  return new Promise((resolve, reject) => {
    const networks: NetworkConfig[] = []
    const routes: RouteConfig[] = []
    const problems: Problem[] = []
    worker.on('message', (message: LoaderMessage) => {
      if ('networks' in message) networks.push(...message.networks)
      else if ('routes' in message) routes.push(...message.routes)
      else if ('problems' in message) problems.push(...message.problems)
      else {
        const { rest, version, plansAt } = message
        resolve({ config: rest === null ? null : { ...rest, networks, routes }, version, problems, plansAt })
      }
      setImmediate(() => {
        worker.postMessage('next')
      })
    })
    worker.on('error', reject)
    worker.on('exit', code => {
      reject(new Error(`the loader ended with ${code}`))
    })
  })
}
