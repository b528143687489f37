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

/** All that is known of a reply by name: one assert holds it, and shows whatever differs. */
type Facts = Readonly<Record<string, unknown>>

/** The value itself where it is wrong; else the words of what it has to be. */
const judged = (value: unknown, isRight: boolean, words: string): unknown => (isRight ? words : value)
const textOr = (value: unknown, pattern: RegExp, words: string): unknown =>
  judged(value, typeof value === 'string' && pattern.test(value), words)

const A_MESSAGE = 'a message'
const A_REQUEST_ID = 'a request id'
const WANTED_HEADERS = {
  'content-type': 'application/json',
  'cache-control': 'no-store',
  'access-control-allow-origin': '*',
  'x-request-id': A_REQUEST_ID,
} as const

function headerFacts({ headers }: HttpReply): Facts {
  const found = Object.keys(WANTED_HEADERS).map(name => [name, headers[name]] as const)
  const requestId = textOr(headers['x-request-id'], /^\S+$/, A_REQUEST_ID)
  return { ...Object.fromEntries(found), 'x-request-id': requestId }
}

/** What one error reply says, and what its row in the table promises. */
function itemFacts(text: string, { reason, family = 'evm', id = 'null', data = {} }: ExpectedRefusal) {
  const reply = JSON.parse(text)
  const { code, message, data: said } = reply.error ?? {}
  const ids = [id].flat()
  const foundId = rawMember(text, 'id') ?? 'absent'
  const anyId = ids.join(' or ')
  const each = Object.entries(data).map(([name, value]) => {
    const found: unknown = said?.[name]
    if (typeof value !== 'function') return { name, found, wanted: value }
    return { name, found: judged(found, (value as Judge)(found), 'right'), wanted: 'right' }
  })
  const found: Facts = {
    members: Object.keys(reply).sort(),
    jsonrpc: reply.jsonrpc,
    id: judged(foundId, ids.includes(foundId), anyId),
    error: Object.keys(reply.error ?? {}).sort(),
    reason: said?.reason,
    code,
    message: textOr(message, /\S/, A_MESSAGE),
    requestId: textOr(said?.requestId, /^\S+$/, A_REQUEST_ID),
    data: each.map(one => [one.name, one.found]),
  }
  const wanted: Facts = {
    members: ['error', 'id', 'jsonrpc'],
    jsonrpc: '2.0',
    id: anyId,
    error: ['code', 'data', 'message'],
    reason,
    code: refusals[reason][family === 'evm' ? 1 : 2],
    message: A_MESSAGE,
    requestId: A_REQUEST_ID,
    data: each.map(one => [one.name, one.wanted]),
  }
  return { found, wanted, data: said }
}

/** Holds one error reply (a body, or an item of a batch) against the contract; gives `data`. */
export function refusedItem(t: Test, text: string, expected: ExpectedRefusal): any {
  const { found, wanted, data } = itemFacts(text, expected)
  t.strictSame(found, wanted, expected.reason, { text })
  return data
}

/** Holds the HTTP reply to one refused message against the contract; gives `data`. */
export function refused(t: Test, reply: HttpReply, expected: ExpectedRefusal, status?: number): any {
  const { found, wanted, data } = itemFacts(reply.text, expected)
  const isSameId = reply.headers['x-request-id'] === data?.requestId
  t.strictSame(
    { status: reply.status, ...headerFacts(reply), ...found, isSameId },
    { status: status ?? refusals[expected.reason][0], ...WANTED_HEADERS, ...wanted, isSameId: true },
    expected.reason,
    { text: reply.text },
  )
  return data
}

/** The headers that every reply with a body carries. */
export function commonHeaders(t: Test, reply: HttpReply): void {
  t.strictSame(headerFacts(reply), WANTED_HEADERS, 'the headers of every reply')
}
