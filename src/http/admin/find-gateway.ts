/** Which gateway serves a configuration directory now: an edit may have changed its admin address or its data directory since it was started. */
import { listenAddress } from '../../config/units.ts'
import type { ListenAddress } from '../../config/types.ts'
import { processAt, realDir } from './running.ts'
import type { Found, Settings } from './running.ts'
import { readServing, whyUnread } from './serving-file.ts'

/** What was found: the gateway, or in one sentence why there is none. */
export type Sought = { readonly gateway: Found } | { readonly none: string }

/** Milliseconds that a gateway gets to say who it is; nobody at all is known at once. */
const PATIENCE = 5_000

/** The gateway that serves `dir`, by the admin address of its configuration, or by what lies in its data directory. */
export async function findGateway(dir: string, { admin, dataDir }: Settings): Promise<Sought> {
  const behind = admin.port === 0 ? null : await processAt(admin, PATIENCE)
  if (behind !== null && serves(behind, dir)) return { gateway: behind }
  const unread = whyUnread(dataDir)
  if (unread !== null) return { none: unread }
  const serving = readServing(dataDir)
  const address = serving === null ? null : listenAddress(serving.admin)
  const named = address === null ? null : await processAt(address, PATIENCE)
  if (named !== null && serves(named, dir)) return { gateway: named }
  const other = [named, behind].find(one => one?.dataDir === realDir(dataDir)) ?? null
  if (other !== null) return { none: servesAnother(other, dir) }
  return { none: nobody(dir, { admin, dataDir }) }
}

/** The gateway that answers at an address, if it serves `dir`. */
export async function gatewayAt(address: ListenAddress, dir: string): Promise<Sought> {
  const found = await processAt(address, PATIENCE)
  if (found === null) return { none: `no gateway answers at ${address.host}:${address.port}` }
  return serves(found, dir) ? { gateway: found } : { none: servesAnother(found, dir) }
}

function serves({ configDir }: Found, dir: string): boolean {
  return configDir === realDir(dir)
}

function servesAnother({ pid, configDir, dataDir }: Found, dir: string): string {
  return `the gateway on the data directory ${dataDir} (process ${pid}) serves the configuration directory ${configDir}, not ${realDir(dir)}`
}

function nobody(dir: string, { admin, dataDir }: Settings): string {
  const at =
    admin.port === 0 ? '' : `, and none that serves ${realDir(dir)} answers at ${admin.host}:${admin.port}`
  return `no gateway runs on the data directory ${dataDir}${at}; one that was started with another dataDir and admin is named with --admin HOST:PORT`
}
