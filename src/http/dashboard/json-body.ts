/** Reads what the page sends: a small JSON object, from the dashboard's own page only. */
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Holder } from '../../limits/byte-budget.ts'
import { isJson, readBody } from '../body.ts'
import { isSameOrigin } from './same-origin.ts'
import type { PageVisit } from './visit.ts'

/** Bytes; the longest call changes an endpoint with a hundred origins. */
const MOST = 64 * 1024

/** What forbids the request before its body is read; null when nothing does. */
export function checkSender({ request: { headers } }: PageVisit): Refusal | null {
  if (!isSameOrigin(headers)) return refuse('origin_denied', 'Only the dashboard itself may ask for this')
  if (!isJson(headers['content-type']) || headers['content-encoding'] !== undefined)
    return refuse('unsupported_media_type')
  return null
}

/** The object in the body; `gone` when the browser has left. */
export async function readObject(
  { request }: PageVisit,
  hold: Holder,
): Promise<{ readonly sent: Readonly<Record<string, unknown>> } | Refusal | 'gone'> {
  const body = await readBody(request, MOST, hold)
  if (body === 'gone') return 'gone'
  if (body === 'too_large') return refuse('body_too_large', undefined, { limit: MOST })
  if (body === 'no_room') return refuse('overloaded')
  const value = parse(body)
  if (value === undefined) return refuse('parse_error')
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { sent: value as Record<string, unknown> }
    : refuse('invalid_request')
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)) as unknown
  } catch {
    return undefined
  }
}
