/**
 * Every way a call can be refused (design: "Refusals"). `data.reason` is the stable contract; the codes follow EIP-1474
 * on EVM and keep out of -32001…-32019 on Solana, whose nodes use them. Nothing permanent has a code or status that
 * client libraries retry.
 */
export interface RefusalRow {
  /** HTTP status of a reply that holds only this refusal. */
  readonly status: number
  readonly evm: number
  readonly solana: number
  /** Status on a verbatim HTTP network; null where it cannot happen there. */
  readonly http: number | null
  readonly billed: boolean
  readonly message: string
}

function row(
  status: number,
  [evm, solana, http]: readonly [number, number, number | null],
  message: string,
  billed = false,
): RefusalRow {
  return { status, evm, solana, http, billed, message }
}

export const refusalTable = {
  parse_error: row(400, [-32700, -32700, null], 'The body is not valid JSON in UTF-8'),
  invalid_request: row(400, [-32600, -32600, 400], 'This is not a JSON-RPC 2.0 request'),
  body_too_large: row(413, [-32600, -32600, 413], 'The request body is too large'),
  batch_too_large: row(200, [-32600, -32600, null], 'The batch holds too many calls'),
  unsupported_media_type: row(415, [-32600, -32600, 415], 'Send Content-Type: application/json, unencoded'),
  method_not_allowed: row(405, [-32600, -32600, 405], 'Send calls with POST'),
  not_found: row(404, [-32600, -32600, 404], 'Nothing is served at this host and path'),
  invalid_key: row(401, [401, 401, 401], 'The API key is missing or not valid'),
  account_suspended: row(403, [403, 403, 403], 'The account is suspended'),
  endpoint_inactive: row(403, [403, 403, 403], 'The endpoint is inactive'),
  wrong_network: row(403, [403, 403, 403], 'The API key belongs to another network'),
  origin_denied: row(403, [403, 403, 403], 'This Origin is not allowed for the endpoint'),
  address_denied: row(403, [403, 403, 403], 'This address is not allowed for the endpoint'),
  management_denied: row(403, [403, 403, 403], 'Management calls are switched off for this key'),
  method_not_found: row(200, [-32601, -32601, 404], 'The method does not exist or is not available'),
  plan_required: row(200, [-32004, 403, 403], 'The method is not part of the plan'),
  invalid_params: row(200, [-32602, -32602, 400], 'Invalid params'),
  capability_missing: row(200, [-32002, 503, 501], 'No route of this network can serve the call'),
  rate_limited: row(429, [-32005, 429, 429], 'Rate limit exceeded'),
  too_many_connections: row(429, [-32005, 429, 429], 'Too many connections'),
  too_many_subscriptions: row(429, [-32005, 429, 429], 'Too many subscriptions'),
  too_many_bad_keys: row(429, [-32005, 429, 429], 'Too many requests with bad keys from this address'),
  quota_exhausted: row(402, [402, 402, 402], 'The quota of the plan is used up'),
  no_route: row(503, [-32603, -32603, 503], 'No upstream is available for this call now'),
  overloaded: row(503, [-32603, -32603, 503], 'The gateway is at its limit; try again'),
  journal_unavailable: row(503, [-32603, -32603, 503], 'Usage cannot be recorded now, so no call is served'),
  upstream_error: row(502, [-32603, -32603, 502], 'The upstream sent no usable reply'),
  upstream_timeout: row(504, [-32015, 504, 504], 'The upstream did not answer in time'),
  response_too_large: row(200, [-32020, 413, 502], 'The response is too large to deliver', true),
  store_unavailable: row(
    503,
    [-32603, -32603, 503],
    'The database of accounts cannot be reached; nothing was changed',
  ),
  internal: row(500, [-32603, -32603, 500], 'Internal error'),
} as const satisfies Record<string, RefusalRow>

/** The stable name of a refusal. */
export type Reason = keyof typeof refusalTable
