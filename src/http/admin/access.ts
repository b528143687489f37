/**
 * Who may ask the admin listener. It has no keys: it trusts whoever can reach it. A browser on such a machine can be made to by
 * any page (a name that resolves to the listener, a form that posts to it), so the request has to say that it means this listener.
 */
import type { IncomingMessage } from 'node:http'
import { isJson } from '../body.ts'
import { headFault, isOwnAddress, hostName } from '../request-head.ts'
import type { GatewayConfig } from '../../snapshot/types.ts'

/** A request that is not answered. */
export interface AdminRefusal {
  readonly status: number
  readonly error: string
}

/** The names under which the listener is reached: the host that it binds, and those that the operator lists. */
export type AdminNames = Pick<GatewayConfig, 'admin' | 'adminHosts'>

/** Why a request is refused before its path is looked up; null when it may be answered. */
export function adminRefusal(request: IncomingMessage, names: AdminNames): AdminRefusal | null {
  const fault = headFault(request)
  if (fault !== null) return { status: fault.status, error: fault.refusal.message }
  const { host = '', 'content-type': type, 'content-encoding': encoding } = request.headers
  if (!isOwnHost(hostName(host), request.socket.localAddress, names))
    return { status: 403, error: 'the admin listener does not serve this host; list it under adminHosts' }
  if (isForeign(request, host))
    return { status: 403, error: 'the admin listener does not serve other origins' }
  const isPatch = request.method === 'PATCH' && type === 'application/merge-patch+json'
  if (hasBody(request) && ((!isJson(type) && !isPatch) || encoding !== undefined))
    return { status: 415, error: 'send the body as application/json' }
  return null
}

function isOwnHost(
  name: string,
  localAddress: string | undefined,
  { admin, adminHosts }: AdminNames,
): boolean {
  if (name === 'localhost' || adminHosts.includes(name)) return true
  const bare = name.startsWith('[') ? name.slice(1, -1) : name
  return bare === admin.host.toLowerCase() || isOwnAddress(name, localAddress)
}

/** Whether a page elsewhere sends the request: browsers name it, and never by leaving both headers out of a POST. */
function isForeign({ headers, method }: IncomingMessage, host: string): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && origin !== `http://${host}` && origin !== `https://${host}`) return true
  return method !== 'GET' && site !== undefined && site !== 'same-origin' && site !== 'none'
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) !== 0
}
