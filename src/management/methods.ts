import { showAccount } from './account.ts'
import { setAlerts, showAlerts } from './alerts.ts'
import { showAudit } from './audit.ts'
import {
  createEndpoint,
  deleteEndpoint,
  getEndpoint,
  listEndpoints,
  rotateKey,
  updateEndpoint,
} from './endpoints.ts'
import { networkMethods } from './network-methods.ts'
import { networkStatus } from './network-status.ts'
import { supportedNetworks } from './networks.ts'
import type { AccountCaller, ServiceDeps, ServiceReply } from './types.ts'
import { showUsage } from './usage.ts'

type Reply = ServiceReply | Promise<ServiceReply>

/** A management method; `open` ones need no account and work on the public route. */
export type ServiceMethod =
  | { readonly open: true; run(params: unknown, deps: ServiceDeps): Reply }
  | { readonly open: false; run(params: unknown, caller: AccountCaller, deps: ServiceDeps): Reply }

/** Every management method by its name. */
export const serviceMethods: ReadonlyMap<string, ServiceMethod> = new Map<string, ServiceMethod>([
  ['service_supportedNetworks', { open: true, run: supportedNetworks }],
  ['service_createEndpoint', { open: false, run: createEndpoint }],
  ['service_listEndpoints', { open: false, run: listEndpoints }],
  ['service_getEndpoint', { open: false, run: getEndpoint }],
  ['service_updateEndpoint', { open: false, run: updateEndpoint }],
  ['service_rotateKey', { open: false, run: rotateKey }],
  ['service_deleteEndpoint', { open: false, run: deleteEndpoint }],
  ['service_account', { open: false, run: showAccount }],
  ['service_alerts', { open: false, run: showAlerts }],
  ['service_setAlerts', { open: false, run: setAlerts }],
  ['service_audit', { open: false, run: showAudit }],
  ['service_networkStatus', { open: false, run: networkStatus }],
  ['service_methods', { open: false, run: networkMethods }],
  ['service_usage', { open: false, run: showUsage }],
])
