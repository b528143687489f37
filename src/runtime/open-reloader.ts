/** "Edit YAML and reload", as a process that reads the files does it: at a signal, a request, or an edit. */
import { join } from 'node:path'
import { FILES } from '../config/files.ts'
import type { Config } from '../config/types.ts'
import type { Gateway } from '../call/gateway.ts'
import type { Certificate } from '../http/certificate.ts'
import type { Running } from '../http/admin/running.ts'
import type { Logger } from '../observe/log.ts'
import { Loader } from '../reload/loader.ts'
import type { LoadedConfig } from '../reload/loader.ts'
import { OtherFiles } from '../reload/other-files.ts'
import { preflight } from '../reload/preflight.ts'
import { Reloader } from '../reload/reloader.ts'
import type { LoadedBy, Reloaded, ReloaderParts } from '../reload/reloader.ts'
import { watchFiles } from '../reload/watch.ts'
import type { InUse } from '../reload/in-use-problems.ts'
import type { Closing } from './closing.ts'
import { renewCertificate } from './open-certificate.ts'
import { swap } from './gateway.ts'

/** What a reload works on. */
export interface ReloadingParts {
  readonly dir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly config: Config
  readonly loaded: Pick<LoadedConfig, 'version' | 'problems'>
  readonly gateway: Gateway
  readonly inUse: InUse
  readonly certificate: Certificate | null
  /** This process, as it is known now. */
  readonly self: () => Running
  readonly log: Logger
  readonly state: { readonly draining: boolean }
  /** Hears of another configuration, or another certificate of the same, before it is said to be served. */
  readonly taken?: ((config: Config, version: string) => Promise<void>) | undefined
  /** Hears of each reload that changed something, or was rejected. */
  readonly heard?: (reloaded: Reloaded) => void
  /** What is known from before, and who keeps what is known. */
  readonly kept?: Pick<ReloaderParts, 'before' | 'keep'> | undefined
}

/** A reloader that hears of edits once it watches. */
export interface Reloading {
  readonly reloader: Reloader
  readonly reload: (by: LoadedBy) => void
  /** Watches the files, until it is closed. */
  watch(closing: Closing): Promise<void>
}

/** Makes the reloader. */
export function openReloader(parts: ReloadingParts, closing: Closing): Reloading {
  const { dir, env, config, loaded, gateway, inUse, certificate, self, log, state } = parts
  const { taken = () => Promise.resolve() } = parts
  const loader = new Loader({ dir, env, port: config.gateway.listen.port })
  closing.push(() => loader.close())
  let { watch } = config.gateway
  const edited = (): void => {
    if (watch) reload('watcher')
  }
  const otherFiles = new OtherFiles(edited)
  let version = loaded.version
  const reloader: Reloader = new Reloader(
    { config, ...loaded },
    {
      load: () => loader.load(),
      meet: (next, places) => preflight({ config: next, places, env, running: self() }, inUse),
      renewCertificate: async next => {
        await otherFiles.follow(next)
        const { tls } = next.gateway
        const renewed = certificate !== null && tls !== null && (await renewCertificate(certificate, tls))
        if (renewed) await taken(next, version)
        return renewed
      },
      swap: async (snapshot, next) => {
        version = snapshot.version
        watch = next.gateway.watch
        await swap(gateway, snapshot, log)
        await taken(next, version)
      },
      log,
      ...(parts.heard && { heard: parts.heard }),
      ...parts.kept,
    },
  )
  const reload = (by: LoadedBy): void => {
    if (state.draining) return
    void reloader.reload(by).catch((error: unknown) => {
      gateway.live.observer.bug(error, 'reload')
    })
  }
  return {
    reloader,
    reload,
    watch: async closing => {
      closing.push(() => reloader.idle())
      closing.push(
        await watchFiles(
          FILES.map(file => join(dir, file)),
          edited,
        ),
      )
      await otherFiles.follow(config)
      closing.push(() => {
        otherFiles.close()
      })
    },
  }
}
