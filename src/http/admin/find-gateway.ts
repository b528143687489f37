/** Which gateway serves a configuration directory now: an edit may have changed its admin address or its data directory since it was started. */
import { listenAddress } from '../../config/words/units.ts'
import type { ListenAddress } from '../../config/types.ts'
import { isServed } from '../../stores/sqlite/usage/journals/left.ts'
import { processAt, realDir } from './running.ts'
import type { Found, Running, Settings } from './running.ts'
import { readServing, whyUnread } from './serving-file.ts'

/** What was found: the gateway, or in one sentence why there is none. */
export type Sought = { readonly gateway: Found } | { readonly none: string }

/** Milliseconds that a gateway gets to say who it is; nobody at all is known at once. */
const PATIENCE = 5_000

/** The gateways that a command may meet; mostly they are one. */
export interface Around {
  /** Who runs on the data directory, whatever it serves. */
  readonly onData: Found | null
  /** Who serves the configuration directory, wherever its data is. */
  readonly onConfig: Found | null
  /** That one runs on the data directory whose admin listener does not answer. Null when one answers, or none runs. */
  readonly silent: string | null
}

/** The same in few words, for a command that has said it. */
export const SILENT = 'the running gateway does not answer'

/** Who runs on `dataDir` and who serves `dir`, by the admin address of its configuration, or by what lies in its data directory. */
export async function gatewaysAround(dir: string, settings: Settings): Promise<Around> {
  const found = await answering(settings)
  const onData = onDataDir(settings, found)
  return {
    onData,
    onConfig: found.find(one => one !== null && serves(one, dir)) ?? null,
    silent: onData === null ? whySilent(settings) : null,
  }
}

function onDataDir({ dataDir }: Settings, found: readonly (Found | null)[]): Found | null {
  return found.find(one => one?.dataDir === realDir(dataDir)) ?? null
}

/** Who answers at the address of the configuration, and at the one that lies in the data directory. */
async function answering({ admin, dataDir }: Settings): Promise<readonly (Found | null)[]> {
  const serving = readServing(dataDir)
  const addresses = [admin.port === 0 ? null : admin, serving === null ? null : listenAddress(serving.admin)]
  return Promise.all(addresses.map(async address => (address === null ? null : processAt(address, PATIENCE))))
}

/** The gateway that serves `dir`. */
export async function findGateway(dir: string, settings: Settings): Promise<Sought> {
  const { onData, onConfig, silent } = await gatewaysAround(dir, settings)
  if (onConfig !== null) return { gateway: onConfig }
  const unread = whyUnread(settings.dataDir)
  if (unread !== null) return { none: unread }
  return { none: onData === null ? (silent ?? nobody(dir, settings)) : servesAnother(onData, dir) }
}

/** The gateway that answers at an address, if it serves `dir`. */
export async function gatewayAt(address: ListenAddress, dir: string): Promise<Sought> {
  const found = await processAt(address, PATIENCE)
  if (found === null) return { none: `no gateway answers at ${address.host}:${address.port}` }
  return serves(found, dir) ? { gateway: found } : { none: servesAnother(found, dir) }
}

/** Whether `dir` is what a gateway serves. */
export function serves({ configDir }: Found, dir: string): boolean {
  return configDir === realDir(dir)
}

/** That a gateway serves another configuration than `dir`. */
export function servesAnother({ pid, configDir, dataDir }: Found, dir: string): string {
  return `the gateway on the data directory ${dataDir} (process ${pid}) serves the configuration directory ${configDir}, not ${realDir(dir)}`
}

/** That the files of a running gateway's data directory went away: what is made there now is no part of what it serves. Null while they are there. */
export function whyLost(running: Running | null): string | null {
  if (running?.lost === undefined) return null
  const { pid, dataDir, lost } = running
  return `a gateway (process ${pid}) runs on ${dataDir}, and its files were ${lost} while it ran: stop it and restore them from a backup`
}

/** What a running gateway does not do any more, as it has found files of its data directory damaged: a sentence for each. */
export function whyDamaged({ pid, damaged, damagedJournal }: Running): readonly string[] {
  const gateway = `the gateway that runs on it (process ${pid})`
  return [
    ...(damaged === undefined ? [] : [`${gateway} refuses changes of accounts: ${damaged}`]),
    ...(damagedJournal === undefined
      ? []
      : [`${gateway} records no usage and refuses calls: ${damagedJournal}`]),
  ]
}

/** Why another gateway cannot serve on a data directory: one that answers runs there, whatever became of its lock. Null when none does. */
export async function whyServed(settings: Settings): Promise<string | null> {
  return (await whoServes(settings))?.why ?? null
}

/** The same, and whether waiting helps: it finishes its calls and goes. */
export async function whoServes(
  settings: Settings,
): Promise<{ readonly why: string; readonly isLeaving: boolean } | null> {
  const onData = onDataDir(settings, await answering(settings))
  if (onData === null) return null
  const lost = whyLost(onData)
  const why = lost ?? `another tollgate serve is using ${settings.dataDir}`
  return { why, isLeaving: lost === null && onData.draining === true }
}

function whySilent({ dataDir }: Settings): string | null {
  if (!isServed(dataDir)) return null
  return `a gateway runs on the data directory ${dataDir}, but its admin listener does not answer: it is starting or stopping, or it hangs (with several workers its keeper does); see its log`
}

function nobody(dir: string, { admin, dataDir }: Settings): string {
  const at =
    admin.port === 0 ? '' : `, and none that serves ${realDir(dir)} answers at ${admin.host}:${admin.port}`
  return `no gateway runs on the data directory ${dataDir}${at}; one that was started with another dataDir and admin is named with --admin HOST:PORT`
}
