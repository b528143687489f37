/** The snapshot for an operator's eyes. */
import type { FileName } from '../config/files.ts'
import { hideSecrets } from '../config/schema/hide-secrets.ts'
import type { Snapshot } from './types.ts'

/** What is shown of it: the settings of the dashboard say which logo it has. */
type Shown = Omit<Snapshot, 'logo'>

/** The file that each part of a snapshot comes from. */
const FILE: Readonly<Record<keyof Shown, FileName>> = {
  version: 'gateway.yaml',
  sharedVersion: 'gateway.yaml',
  networks: 'networks.yaml',
  hosts: 'networks.yaml',
  baseHosts: 'networks.yaml',
  plans: 'plans.yaml',
  notification: 'methods.yaml',
  gateway: 'gateway.yaml',
}

/** A copy of the snapshot without its secrets: upstream URLs, header values, the webhook and the URLs of the stores. */
export function dump(snapshot: Snapshot): unknown {
  const networks = Object.entries(snapshot.networks).map(([slug, network]) => [
    slug,
    { ...network, routes: hideSecrets('routes.yaml', network.routes) },
  ])
  const all = { ...snapshot, networks: Object.fromEntries(networks) as unknown }
  const shown = (Object.keys(FILE) as (keyof Shown)[]).map(part => [part, hideSecrets(FILE[part], all[part])])
  return Object.fromEntries(shown) as unknown
}
