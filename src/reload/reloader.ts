/** "Edit YAML and reload": all of an edit, or nothing of it. */
import { formatProblem } from '../config/problem.ts'
import type { Problem } from '../config/problem.ts'
import type { Config, GatewayConfig } from '../config/types.ts'
import { compileInSteps } from '../snapshot/compile.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { changesInSteps } from './changes.ts'
import { inTimeSlices } from './time-slices.ts'
import type { Places } from '../snapshot/load-snapshot.ts'
import type { LoadedConfig } from './loader.ts'
import { restartNotice, restartOnly } from './restart-only.ts'

/** Lines of log that one reload may write about changes or problems; the answer and /status have all of them. */
const MOST_LINES = 200

/** The line that tells of another certificate. */
const CERTIFICATE = 'gateway.yaml: the certificate is another one'

/** What the reloader works with. */
export interface ReloaderParts {
  load(): Promise<LoadedConfig>
  /** What a valid configuration meets here. */
  meet(config: Config, places: Places): Promise<readonly Problem[]>
  /** Serves with the certificate as its files are now; whether it is another one. */
  renewCertificate(config: Config): Promise<boolean>
  /** Serves new messages with the snapshot of a configuration. */
  swap(snapshot: Snapshot, config: Config): Promise<void>
  /** Hears of a configuration that was taken, and of one that was rejected. */
  readonly heard?: (reloaded: Reloaded) => void
  /** What the process before this one knew, and what this one begins with is rejected for; absent at a start. */
  readonly before?: { readonly known: KnownReloads | null; readonly rejected: readonly Problem[] | null }
  /** Hears of all that is known after each reload, and at the beginning. */
  readonly keep?: (known: KnownReloads) => void
  readonly log: { info(message: string): void; warn(message: string): void; error(message: string): void }
}

/** A reload that changed what is served, or was rejected. */
export interface Reloaded {
  readonly ok: boolean
  readonly by: LoadedBy
  /** What is served now, and what was before. */
  readonly version: string
  readonly before: string
  readonly changes: readonly string[]
  /** The errors of a rejected one. */
  readonly problems: readonly Problem[]
}

/** How the last reload ended. */
export interface ReloadState {
  readonly ok: boolean
  /** Unix seconds. */
  readonly at: number
  readonly problems: readonly Problem[]
}

/** What a configuration was loaded by. */
export type LoadedBy = 'start' | 'watcher' | 'request' | 'signal'

/** Since when the present configuration is served. */
export interface Taken {
  /** Unix seconds. */
  readonly at: number
  readonly by: LoadedBy
}

/** How the configuration came to be served. */
export interface KnownReloads {
  /** Of the configuration that is served. */
  readonly version: string
  readonly taken: Taken
  readonly state: ReloadState
  /** When it was last loaded and found valid, in Unix seconds. */
  readonly succeededAt: number
}

/** What `POST /reload` answers. */
export interface ReloadResult {
  readonly ok: boolean
  readonly version: string
  readonly changes: readonly string[]
  /** Settings that differ from those of the start, which stay in effect until a restart. */
  readonly afterRestart: readonly string[]
  readonly problems: readonly Problem[]
  /** When `version` was taken: before, where nothing changed. */
  readonly taken: Taken
}

/** Reloads one at a time, in the order they were asked for. */
export class Reloader {
  readonly #parts: ReloaderParts
  /** What the settings that are read once were at the start. */
  readonly #started: GatewayConfig
  #config: Config
  #version: string
  #state: ReloadState
  /** When a reload last succeeded, in Unix seconds. */
  #succeededAt: number
  #taken: Taken
  #last: Promise<unknown> = Promise.resolve()

  constructor(
    { config, version, problems }: Omit<LoadedConfig, 'places'> & { readonly config: Config },
    parts: ReloaderParts,
  ) {
    this.#parts = parts
    this.#started = config.gateway
    this.#config = config
    this.#version = version
    const { known = null, rejected = null } = parts.before ?? {}
    // What is on the disk now was loaded, and found valid unless it is rejected.
    this.#succeededAt = (rejected === null ? null : known?.succeededAt) ?? now()
    this.#taken = known?.version === version ? known.taken : { at: this.#succeededAt, by: 'start' }
    const rejectedAt = known?.state.ok === false ? known.state.at : now()
    this.#state =
      rejected === null
        ? { ok: true, at: this.#succeededAt, problems }
        : { ok: false, at: rejectedAt, problems: rejected }
    this.#keepKnown()
  }

  get state(): ReloadState {
    return this.#state
  }

  /** When the configuration was last loaded and found valid, changed or not, in Unix seconds. */
  get succeededAt(): number {
    return this.#succeededAt
  }

  /** Loads the directory again and serves it when it is whole. */
  reload(by: LoadedBy): Promise<ReloadResult> {
    const result = this.#last.then(async () => {
      const reloaded = await this.#reload(by)
      this.#keepKnown()
      return reloaded
    })
    this.#last = result.catch(() => undefined)
    return result
  }

  /** The version that the files as they are now have in this environment; null while they have errors. Serves nothing. */
  onDisk(): Promise<string | null> {
    const result = this.#last.then(() => this.#parts.load())
    this.#last = result.catch(() => undefined)
    return result.then(({ config, version }) => (config === null ? null : version))
  }

  /** Resolves when no reload is under way. */
  async idle(): Promise<void> {
    await this.#last
  }

  async #reload(by: LoadedBy): Promise<ReloadResult> {
    const { config, version, problems: found, places } = await this.#parts.load()
    if (config === null) return this.#keep(found, by)
    const problems = [...found, ...(await this.#parts.meet(config, places))]
    if (problems.some(({ severity }) => severity === 'error')) return this.#keep(problems, by)
    const renewed = (await this.#parts.renewCertificate(config)) ? [CERTIFICATE] : []
    for (const change of renewed) this.#parts.log.info(change)
    const afterRestart = restartOnly(this.#started, config.gateway)
    if (version === this.#version) {
      if (!this.#state.ok)
        this.#parts.log.info('the configuration is valid again: it is the one that is served')
      this.#succeed(problems)
      return { ok: true, version, changes: renewed, afterRestart, problems, taken: this.#taken }
    }
    const snapshot = await inTimeSlices(compileInSteps(config, version))
    const changes = await inTimeSlices(changesInSteps(this.#config, config))
    await this.#parts.swap(snapshot, config)
    const before = this.#version
    this.#config = config
    this.#version = version
    this.#succeed(problems)
    this.#taken = { at: this.#succeededAt, by }
    for (const change of listed(changes)) this.#parts.log.info(change)
    if (afterRestart.length > 0) this.#parts.log.warn(restartNotice(afterRestart))
    this.#parts.heard?.({ ok: true, by, version, before, changes, problems: [] })
    return {
      ok: true,
      version,
      changes: [...renewed, ...changes],
      afterRestart,
      problems,
      taken: this.#taken,
    }
  }

  #keepKnown(): void {
    const known = { version: this.#version, taken: this.#taken, state: this.#state }
    this.#parts.keep?.({ ...known, succeededAt: this.#succeededAt })
  }

  #succeed(problems: readonly Problem[]): void {
    this.#succeededAt = now()
    this.#state = { ok: true, at: this.#succeededAt, problems }
  }

  /** A bad edit changes nothing but what is told of it. */
  #keep(problems: readonly Problem[], by: LoadedBy): ReloadResult {
    this.#state = { ok: false, at: now(), problems }
    const errors = problems.filter(({ severity }) => severity === 'error')
    for (const line of listed(errors.map(formatProblem))) this.#parts.log.error(line)
    this.#parts.log.error('the configuration was rejected; the last good one is still served')
    const version = this.#version
    this.#parts.heard?.({ ok: false, by, version, before: version, changes: [], problems: errors })
    const kept = { version, taken: this.#taken }
    return { ok: false, changes: [], afterRestart: [], problems, ...kept }
  }
}

/** The first lines, and how many more there are. */
function listed(lines: readonly string[]): string[] {
  if (lines.length <= MOST_LINES) return [...lines]
  return [...lines.slice(0, MOST_LINES), `and ${lines.length - MOST_LINES} more`]
}

function now(): number {
  return Math.floor(Date.now() / 1000)
}
