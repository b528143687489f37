/** What a process of a gateway with several is for, as the primary says it in the environment of those it starts. */

import type { Bound } from '../../http/admin/running.ts'
import { withoutPassedOn } from './activation.ts'

/** Serves the admin listener, and keeps what all workers share. */
export interface KeeperRole {
  readonly is: 'keeper'
  /** What the gateway is called from its start to its end, whoever serves it. */
  readonly gateway: string
  /** The primary's process id: the one that the operator knows. */
  readonly primary: number
  readonly workers: number
  /** How many of them serve already. */
  readonly there: number
  /** It is to follow another keeper: it begins when the primary says so. */
  readonly waits?: true
  /** Workers that are still to be replaced, as in the order `restarting`. */
  readonly restarting: readonly number[] | null
  readonly dataDir: string
  /** Where clients connect, and the operator. */
  readonly bound: Bound
  /** Descriptors of the operator's listening sockets, which outlive this process. */
  readonly admin: number
  readonly probes: number | null
}

/** Serves calls. */
export interface WorkerRole {
  readonly is: 'worker'
  /** Its place among its like, from 1. */
  readonly slot: number
  readonly workers: number
  /** The descriptor of the listening socket that all workers share; null where the primary hands connections over. */
  readonly fd: number | null
  readonly dataDir: string
}

/** Takes over from an older primary, with the sockets of which it passes on the descriptors. */
export interface PrimaryRole {
  readonly is: 'primary'
  readonly gateway: string
  readonly listen: number
  readonly admin: number
  readonly probes: number | null
}

export type Role = KeeperRole | WorkerRole | PrimaryRole

const NAME = 'TOLLGATE_ROLE'

/**
 * What processes of one gateway say to each other, and the shape of the configuration in it: with each change the number grows. A gateway is upgraded
 * process by process, and goes on with those of the same number only.
 */
const PROTOCOL = 3

/** The environment of a process that is to have a role. */
export function withRole(env: NodeJS.ProcessEnv, role: Role): NodeJS.ProcessEnv {
  return { ...withoutPassedOn(env), [NAME]: JSON.stringify({ protocol: PROTOCOL, ...role }) }
}

/** The role that the primary has given this process; null where nobody has. Throws one sentence where that one is of another protocol. */
export function roleIn(env: Readonly<Record<string, string | undefined>>): Role | null {
  const text = env[NAME]
  // Whoever sets it by hand has no primary to speak to.
  if (text === undefined || process.send === undefined) return null
  const { protocol, ...role } = JSON.parse(text) as Role & { readonly protocol: number }
  if (protocol === PROTOCOL) return role
  throw new Error(
    `this program speaks protocol ${PROTOCOL} with its processes, and the gateway that runs protocol ${protocol}: stop that one, and start this one in its place`,
  )
}
