/** Which gateway runs behind an admin address: the command line asks before it works beside it. */
import { realpathSync } from 'node:fs'
import { get } from 'node:http'
import { basename, dirname, join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import type { ListenAddress } from '../../config/types.ts'
import type { Snapshot } from '../../snapshot/types.ts'

/** A running gateway, as `GET /process` of its admin listener tells it. Paths are absolute, links followed. */
export interface Running {
  readonly pid: number
  /** Its configuration directory. */
  readonly configDir: string
  readonly dataDir: string
  /** Its listeners, once all are open. */
  readonly bound?: Bound
  /** What happened to files of its data directory while they were open; absent while all are there. */
  readonly lost?: 'removed' | 'replaced'
  /** Why it takes no changes of accounts: their file is damaged. Absent while that is not known. */
  readonly damaged?: string
  /** Why it records no usage and refuses calls: its journal is damaged. Absent while that is not known. */
  readonly damagedJournal?: string
  /** That it finishes its calls and goes; absent while it serves. */
  readonly draining?: true
  /** The id of the master key that a process begins with which is started beside it now. */
  readonly masterKey?: string
}

/** Where each listener is, as `host:port`; `probes` is absent where it is not configured. */
export interface Bound {
  readonly listen: string
  readonly admin: string
  readonly probes?: string
}

/** The same with the `host:port` at which its admin listener was reached. */
export interface Found extends Running {
  readonly admin: string
}

/** Where a gateway's data is, and where it can be asked. */
export type Settings = Pick<Snapshot['gateway'], 'dataDir' | 'admin'>

/** Milliseconds that it gets to answer. */
const PATIENCE = 1_000

/** This very process, serving the configuration of `dir`. */
export function thisProcess(dir: string, { dataDir }: Pick<Settings, 'dataDir'>): Running {
  return { pid: process.pid, configDir: realDir(dir), dataDir: realDir(dataDir) }
}

/**
 * The gateway behind the admin address of a configuration, when it serves this very directory; null when none does, or when the address
 * leaves the port to the system.
 */
export async function findRunning(dir: string, { admin }: Pick<Settings, 'admin'>): Promise<Found | null> {
  if (admin.port === 0) return null
  const running = await processAt(admin)
  return running?.configDir === realDir(dir) ? running : null
}

/** The gateway behind an admin address; null when none answers within `patience` milliseconds. */
export async function processAt({ host, port }: ListenAddress, patience = PATIENCE): Promise<Found | null> {
  const admin = `${reachable(host)}:${port}`
  const running = await ask(`http://${admin}/process`, patience)
  return running === null ? null : { ...running, admin }
}

/** A path with its links followed, as far as it is there. */
export function realDir(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const whole = resolve(path)
    return dirname(whole) === whole ? whole : join(realDir(dirname(whole)), basename(whole))
  }
}

/** An address to listen on as one to connect to. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

/** What a listener says of itself; null when nobody answers, or somebody else. */
function ask(url: string, patience: number): Promise<Running | null> {
  return new Promise(done => {
    const nobody = (): void => {
      done(null)
    }
    const request = get(url, { agent: false, signal: AbortSignal.timeout(patience) }, response => {
      void text(response).then(body => {
        done(response.statusCode === 200 ? read(body) : null)
      }, nobody)
    })
    request.on('error', nobody)
  })
}

function read(body: string): Running | null {
  try {
    const read = JSON.parse(body) as Readonly<Record<string, unknown>>
    const { pid, configDir, dataDir, bound, lost, damaged, damagedJournal, draining, masterKey } = read
    if (typeof pid !== 'number' || typeof configDir !== 'string' || typeof dataDir !== 'string') return null
    return {
      pid,
      configDir,
      dataDir,
      ...(bound === undefined ? {} : { bound: bound as Bound }),
      ...(lost === 'removed' || lost === 'replaced' ? { lost } : {}),
      ...(typeof damaged === 'string' ? { damaged } : {}),
      ...(typeof damagedJournal === 'string' ? { damagedJournal } : {}),
      ...(draining === true ? { draining } : {}),
      ...(typeof masterKey === 'string' ? { masterKey } : {}),
    }
  } catch {
    return null
  }
}
