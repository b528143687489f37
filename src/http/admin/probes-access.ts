/** What the probes listener answers: it may be open to a whole network, so nothing there tells of routes, or changes anything. */
import type { IncomingMessage } from 'node:http'
import type { AdminRefusal } from './access.ts'
import { headFault } from '../request-head.ts'

const PATHS = ['/livez', '/readyz', '/metrics']

/** Why a request is refused; null when it may be answered. A body is not read. */
export function probesRefusal(request: IncomingMessage): AdminRefusal | null {
  const fault = headFault(request)
  if (fault !== null) return { status: fault.status, error: fault.refusal.message }
  const { method, url = '', headers } = request
  const [path = ''] = url.split('?', 1)
  const isBare = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
  if (PATHS.includes(path) && (method === 'GET' || method === 'HEAD') && isBare) return null
  return { status: 404, error: 'not found' }
}
