/** Where a gateway listens: at its addresses, or on sockets that the service manager has bound for it. */
import type { GatewayConfig } from '../config/types.ts'
import type { ListenAt } from '../http/listen.ts'
import { passedOn } from './workers/activation.ts'

/** Of each listener. */
export interface Addresses {
  readonly listen: ListenAt
  readonly admin: ListenAt
  readonly probes: ListenAt | null
}

/** The listeners of a configuration in an environment. */
export function addressesOf(
  { listen, admin, probes }: Pick<GatewayConfig, 'listen' | 'admin' | 'probes'>,
  env: Readonly<Record<string, string | undefined>>,
): Addresses {
  const passed = passedOn(env)
  const of = (fd: number | undefined, at: ListenAt): ListenAt => (fd === undefined ? at : { fd })
  return {
    listen: of(passed.listen, listen),
    admin: of(passed.admin, admin),
    probes: probes === null ? null : of(passed.probes, probes),
  }
}
