import type { Test } from 'tap'
import type { HttpReply } from './http.ts'
import { rawMember } from './raw-json.ts'

/** The refusal table as clients were promised it: HTTP status, code, code on Solana. */
export const refusals = {
  parse_error: [400, -32700, -32700],
  invalid_request: [400, -32600, -32600],
  body_too_large: [413, -32600, -32600],
  batch_too_large: [200, -32600, -32600],
  unsupported_media_type: [415, -32600, -32600],
  method_not_allowed: [405, -32600, -32600],
  not_found: [404, -32600, -32600],
  invalid_key: [401, 401, 401],
  account_suspended: [403, 403, 403],
  endpoint_inactive: [403, 403, 403],
  wrong_network: [403, 403, 403],
  origin_denied: [403, 403, 403],
  address_denied: [403, 403, 403],
  management_denied: [403, 403, 403],
  method_not_found: [200, -32601, -32601],
  plan_required: [200, -32004, 403],
  invalid_params: [200, -32602, -32602],
  capability_missing: [200, -32002, 503],
  rate_limited: [429, -32005, 429],
  too_many_connections: [429, -32005, 429],
  too_many_subscriptions: [429, -32005, 429],
  too_many_bad_keys: [429, -32005, 429],
  quota_exhausted: [402, 402, 402],
  no_route: [503, -32603, -32603],
  overloaded: [503, -32603, -32603],
  journal_unavailable: [503, -32603, -32603],
  upstream_error: [502, -32603, -32603],
  upstream_timeout: [504, -32015, 504],
  response_too_large: [200, -32020, 413],
} as const satisfies Record<string, readonly [status: number, evm: number, solana: number]>

export type Reason = keyof typeof refusals

/** What a test knows of a refusal besides its row in the table. */
export interface ExpectedRefusal {
  readonly reason: Reason
  readonly family?: 'evm' | 'solana'
  /** The raw id; default null. A list allows any of them. */
  readonly id?: string | readonly string[]
  /** Members of `data` with their values; a function judges the value. */
  readonly data?: Readonly<Record<string, unknown>>
}

type Judge = (value: unknown) => boolean

/** Holds one error reply (a body, or an item of a batch) against the contract; gives `data`. */
export function refusedItem(t: Test, text: string, expected: ExpectedRefusal): any {
  const { reason, family = 'evm', id = 'null', data = {} } = expected
  const reply = JSON.parse(text)
  t.strictSame(Object.keys(reply).sort(), ['error', 'id', 'jsonrpc'], 'members of the reply')
  t.equal(reply.jsonrpc, '2.0', 'jsonrpc')
  t.ok([id].flat().includes(rawMember(text, 'id') ?? 'absent'), `id is ${[id].flat().join(' or ')}: ${text}`)
  t.strictSame(Object.keys(reply.error ?? {}).sort(), ['code', 'data', 'message'], 'members of the error')
  t.equal(reply.error?.data?.reason, reason, 'reason')
  t.equal(reply.error?.code, refusals[reason][family === 'evm' ? 1 : 2], 'code')
  t.match(reply.error?.message, /\S/, 'a message')
  t.match(reply.error?.data?.requestId, /^\S+$/, 'a request id')
  for (const [name, value] of Object.entries(data)) {
    const found = reply.error?.data?.[name]
    if (typeof value === 'function') t.ok((value as Judge)(found), `data.${name}: ${JSON.stringify(found)}`)
    else t.strictSame(found, value, `data.${name}`)
  }
  return reply.error?.data
}

/** Holds the HTTP reply to one refused message against the contract; gives `data`. */
export function refused(t: Test, reply: HttpReply, expected: ExpectedRefusal, status?: number): any {
  t.equal(reply.status, status ?? refusals[expected.reason][0], 'HTTP status')
  commonHeaders(t, reply)
  const data = refusedItem(t, reply.text, expected)
  t.equal(reply.headers['x-request-id'], data?.requestId, 'the request id of the header')
  return data
}

/** The headers that every reply with a body carries. */
export function commonHeaders(t: Test, { headers }: HttpReply): void {
  t.equal(headers['content-type'], 'application/json', 'content-type')
  t.equal(headers['cache-control'], 'no-store', 'cache-control')
  t.equal(headers['access-control-allow-origin'], '*', 'access-control-allow-origin')
  t.match(headers['x-request-id'], /^\S+$/, 'x-request-id')
}
