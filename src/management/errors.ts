import { ENDPOINT_LIMIT } from '../ports/endpoints.ts'
import type { ServiceError } from './types.ts'

/** Milliseconds after which a usage query that found no room is worth another try. */
const RETRY_AFTER = 1_000

interface Failed {
  readonly error: ServiceError
}

/** -32602, with what is wrong. */
export function invalidParams(why: string): Failed {
  return {
    error: { code: -32602, message: `Invalid params: ${why}`, data: { reason: 'invalid_params', why } },
  }
}

/** Mistakes that a refusal names. */
const MOST_MISTAKES = 10

/** The same for one or several members, each with what is wrong with it; several are in `data.wrong`, too. */
export function invalidMembers(mistakes: readonly (readonly [member: string, why: string])[]): Failed {
  const named = mistakes.slice(0, MOST_MISTAKES)
  const more = mistakes.length - named.length
  const whole = [...named.map(([, why]) => why), ...(more === 0 ? [] : [`and ${more} more`])].join('; ')
  const { error } = invalidParams(whole)
  if (mistakes.length === 1) return { error }
  const wrong = named.map(([member, why]) => ({ member, why }))
  return { error: { ...error, data: { ...error.data, wrong } } }
}

/** Characters of a slug at its longest. */
const LONGEST_SLUG = 59

/** -32602 of service_createEndpoint: no supported network has that slug (spec, "Errors"). */
export function invalidChain(chain: string): Failed {
  const shown = chain.length > LONGEST_SLUG ? `${chain.slice(0, LONGEST_SLUG)}…` : chain
  const why = `unknown chain ${JSON.stringify(shown)}; see service_supportedNetworks`
  return { error: { code: -32602, message: 'Invalid chain', data: { reason: 'invalid_params', why } } }
}

/** -32003 of service_createEndpoint: the account is full (spec, "Errors"). */
export function endpointLimitReached(): Failed {
  return {
    error: {
      code: -32003,
      message: `Endpoint limit reached (${ENDPOINT_LIMIT})`,
      data: { reason: 'endpoint_limit', limit: ENDPOINT_LIMIT },
    },
  }
}

/** -32600: a request under the Idempotency-Key of another one. */
export function keyReused(): Failed {
  const why = 'another request was sent with this Idempotency-Key'
  return {
    error: {
      code: -32600,
      message: `Invalid request: ${why}`,
      data: { reason: 'idempotency_key_reused', why },
    },
  }
}

/** The refusal of a call that a key with limits may not make. */
export function keyIsLimited(): Failed {
  const why =
    'This key has limits of its own, so it changes only its own endpoint and never loosens them; use a key without limits or the dashboard token'
  return { error: { code: 403, message: why, data: { reason: 'management_denied', why } } }
}

/** The account was purged after its key was checked. */
export function accountNotFound(): Failed {
  return { error: { code: 401, message: 'The account no longer exists', data: { reason: 'invalid_key' } } }
}

/** -32004: unknown, deleted or another account's; one and the same answer. */
export function endpointNotFound(): Failed {
  return { error: { code: -32004, message: 'Endpoint not found', data: { reason: 'endpoint_not_found' } } }
}

/** -32005: queries of usage run one at a time for an account, and as many as may wait do. */
export function usageBusy(): Failed {
  const data = { reason: 'rate_limited', retryAfterMs: RETRY_AFTER }
  return { error: { code: -32005, message: 'Too many usage queries are running or waiting', data } }
}

/** -32015: a query of usage took longer than it may. */
export function usageTooLong(): Failed {
  const why = 'the query took too long; ask for less time, one endpoint or fewer columns'
  return {
    error: { code: -32015, message: `Usage query timed out: ${why}`, data: { reason: 'usage_timeout', why } },
  }
}

/** -32603: what was used cannot be read now, as a call that needs it would be refused. */
export function usageUnreadable(): Failed {
  return {
    error: { code: -32603, message: 'Usage cannot be read now', data: { reason: 'journal_unavailable' } },
  }
}
