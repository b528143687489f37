/** Why calls were refused, in sentences for the owner of an account, and what to do about it. */
import { provider } from '../brand.ts'

const REASONS: Readonly<Record<string, readonly [what: string, advice: string]>> = {
  rate_limited: ['Too many request units a second', 'Spread the calls, or ask for a larger plan'],
  quota_exhausted: ['The quota or the daily limit was used up', 'It starts again with the next period'],
  plan_required: ['The method is not part of your plan', 'See Methods for what each plan has'],
  invalid_params: ['The parameters were wrong', 'Compare them with the documentation of the method'],
  method_not_found: ['The network has no such method', 'Check its spelling, and see Methods'],
  invalid_request: ['The body was not a valid request', 'Send JSON-RPC 2.0'],
  parse_error: ['The body was not valid JSON', 'Send JSON in UTF-8'],
  body_too_large: ['The request was too large', 'Send smaller batches'],
  batch_too_large: ['The batch held too many calls', 'Send smaller batches'],
  unsupported_media_type: ['The content type was wrong', 'Send application/json'],
  method_not_allowed: ['The HTTP method was wrong', 'Send calls with POST'],
  endpoint_inactive: ['The endpoint was inactive', 'Activate it on its page'],
  account_suspended: ['The account was suspended', `Ask ${provider}`],
  wrong_network: ['The key belongs to another network', 'Use the URL of its own network'],
  origin_denied: ['A web page outside your list', 'Change the allowed origins of the endpoint'],
  address_denied: ['An address outside your list', 'Change the allowed addresses of the endpoint'],
  management_denied: ['The key may not manage the account', 'Allow it on the page of the endpoint'],
  capability_missing: ['No node here can serve the call', 'See Networks for what is offered'],
  too_many_connections: ['Too many open connections', 'Close some, or share them'],
  too_many_subscriptions: ['Too many subscriptions', 'End some, or ask for a larger plan'],
  no_route: ['No node was available', 'Send the call again'],
  overloaded: ['The service was at its limit', 'Send the call again a little later'],
  upstream_error: ['The node gave no usable reply', 'Send the call again'],
  upstream_timeout: ['The node did not answer in time', 'Ask for less at a time'],
  response_too_large: ['The response was too large', 'Ask for less at a time'],
  journal_unavailable: ['Usage could not be recorded', 'Send the call again a little later'],
  store_unavailable: ['The service could not reach its database', 'Send the call again a little later'],
  internal: ['A fault of the service', `Tell ${provider} the request id`],
}

/** What a refusal was for; its stable name where this program does not know it. */
export const reasonName = (reason: string): string => REASONS[reason]?.[0] ?? reason

/** What to do about it; empty where there is nothing to say. */
export const reasonAdvice = (reason: string): string => REASONS[reason]?.[1] ?? ''
