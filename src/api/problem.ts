/** Errors of the admin API: problem details (RFC 9457) with our stable `reason`. */
import { STATUS_CODES } from 'node:http'
import type { ServiceError } from '../management/types.ts'

/** A request that is refused. */
export interface Problem {
  readonly problem: {
    readonly status: number
    readonly reason: string
    /** A sentence for the developer. */
    readonly detail: string
    /** Members that say more. */
    readonly more?: Readonly<Record<string, unknown>>
  }
  readonly headers?: Readonly<Record<string, string>>
}

/** The status of each reason. */
const STATUS = {
  invalid_params: 400,
  parse_error: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  account_not_found: 404,
  endpoint_not_found: 404,
  method_not_allowed: 405,
  endpoint_limit: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  external_id_taken: 409,
  idempotency_key_reused: 422,
  rate_limited: 429,
  journal_unavailable: 503,
  store_unavailable: 503,
  usage_timeout: 503,
} as const

/** Why a request may be refused. */
export type ProblemReason = keyof typeof STATUS

/** A refusal with its status. */
export function problem(
  reason: ProblemReason,
  detail: string,
  rest: {
    readonly more?: Readonly<Record<string, unknown>>
    readonly headers?: Readonly<Record<string, string>>
    /** Replaces that of the reason. */
    readonly status?: number
  } = {},
): Problem {
  const { more, headers, status = STATUS[reason] } = rest
  return {
    problem: { status, reason, detail, ...(more && { more }) },
    ...(headers && { headers }),
  }
}

/** What a management method refuses, as a problem. */
export function problemOf({ message, data }: ServiceError): Problem {
  const { reason, why, retryAfterMs } = data
  const detail = typeof why === 'string' ? why : message
  if (!(reason in STATUS)) throw new Error(`the reason ${reason} has no status`)
  const headers =
    typeof retryAfterMs === 'number' ? { 'retry-after': String(Math.ceil(retryAfterMs / 1000)) } : undefined
  return problem(reason as ProblemReason, detail, { ...(headers && { headers }) })
}

/** The body of a problem. */
export function problemBody({
  problem: { status, reason, detail, more },
}: Problem): Readonly<Record<string, unknown>> {
  return { type: 'about:blank', title: STATUS_CODES[status], status, detail, reason, ...more }
}

/** Whether it is one. */
export function isProblem(value: object): value is Problem {
  return 'problem' in value
}

/** Reasons in the OpenAPI document. */
export const REASONS = Object.keys(STATUS)
