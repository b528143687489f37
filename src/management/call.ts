import { refuse } from '../refusal/refusal.ts'
import { serviceMethods } from './methods.ts'
import type { ServiceCaller, ServiceDeps, ServiceOutcome, ServiceReply } from './types.ts'

/** Whether this is the name of a management method. */
export function isService(method: string): boolean {
  return serviceMethods.has(method)
}

/** Whether this is a management method that works without a key. */
export function isPublicService(method: string): boolean {
  return serviceMethods.get(method)?.open === true
}

/**
 * Answers a management method. `params` is decoded JSON, or undefined. Null when there is no such method for this
 * caller; a throw is a failure of ours, such as an accounts.db that another process holds for more than 5 s.
 */
export async function callService(
  method: string,
  params: unknown,
  caller: ServiceCaller,
  deps: ServiceDeps,
): Promise<ServiceOutcome> {
  const found = serviceMethods.get(method)
  if (found === undefined) return null
  if (found.open) return found.run(params, deps)
  if (caller === null) return null
  const reply = await found.run(params, caller, deps)
  if ('error' in reply && reply.error.data.reason === 'management_denied')
    return refuse('management_denied', reply.error.message, { why: reply.error.message })
  return SHOW.has(method) && deps.isStale() ? stale(reply) : reply
}

/** The methods that show what another machine may have changed. */
const SHOW: ReadonlySet<string> = new Set([
  'service_listEndpoints',
  'service_getEndpoint',
  'service_account',
  'service_usage',
])

/** The same reply, which says that it may be old. */
function stale(reply: ServiceReply): ServiceReply {
  if ('json' in reply) return { json: `${reply.json.slice(0, -1)},"stale":true}` }
  return 'result' in reply ? { result: { ...(reply.result as object), stale: true } } : reply
}
