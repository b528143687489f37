/** What members of bodies and queries of the admin API are: how each is read, and how the OpenAPI document shows it. */
import type { AccountStatus } from '../ports/accounts.ts'
import { isPrintable, PRINTABLE } from '../config/words/printable.ts'
import { LATEST } from '../ports/clock.ts'
import { LABELS } from '../ports/labels.ts'
import type { LabelChange, LabelLimits } from '../ports/labels.ts'
import { SCOPES } from '../ports/tokens.ts'
import { addresses, dailyLimit, flag, name, oneOf, origins, perSecond } from '../management/checks.ts'
import { email as emailAddress, externalId as anyExternalId, LONGEST } from '../management/checks.ts'
import { text, timeOrNull, webhook as webhookUrl } from '../management/checks.ts'
import { LABEL, labelsOf } from '../management/labels.ts'
import type { Check } from '../management/params.ts'

/** A JSON Schema (2020-12), as OpenAPI 3.1 has it. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** One member. */
export interface Field<T> {
  readonly schema: JsonSchema
  readonly check: Check<T>
}

/** Members by their names. */
export type Fields = Readonly<Record<string, Field<unknown>>>

/** The values of some fields. */
export type ValuesOf<F extends Fields> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

/** Most items of a page, and how many there are where nothing is said. */
const MAX_LIMIT = 1_000
const USUAL_LIMIT = 100

const nullable = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'], 'null'] })

function orNull<T>(field: Field<T>): Field<T | null> {
  return {
    schema: nullable(field.schema),
    check: value => (value === null ? { value } : field.check(value)),
  }
}

function wholeNumber(min: number, max: number, wrong: string): Check<number> {
  return value => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= max ? { value: number } : { wrong }
  }
}

function matching(pattern: RegExp, max: number, wrong: string): Check<string> {
  return value =>
    typeof value === 'string' && isPrintable(value, max) && pattern.test(value) ? { value } : { wrong }
}

const string = { type: 'string' }
const time: Field<number> = {
  schema: { type: 'integer', minimum: 0, maximum: LATEST, description: 'Unix seconds' },
  check: wholeNumber(0, LATEST, `must be a whole number of Unix seconds, ${LATEST} at most`),
}
const statuses = ['active', 'suspended'] as const
const externalId: Field<string> = {
  schema: { ...string, minLength: 1, maxLength: LONGEST.externalId, pattern: PRINTABLE.source },
  check: anyExternalId,
}
const webhook: Field<string> = {
  schema: {
    ...string,
    format: 'uri',
    maxLength: LONGEST.webhook,
    description: 'where events of the account are posted to',
  },
  check: webhookUrl,
}
const email: Field<string> = {
  schema: { ...string, format: 'email', maxLength: LONGEST.email },
  check: emailAddress,
}
const status: Field<AccountStatus> = {
  schema: { ...string, enum: statuses },
  check: oneOf(...statuses),
}
const labels = (limits: LabelLimits): Field<LabelChange> => ({
  schema: {
    type: 'object',
    maxProperties: limits.most,
    propertyNames: { pattern: LABEL.source },
    additionalProperties: { ...string, maxLength: limits.longest, pattern: PRINTABLE.source },
  },
  check: labelsOf(limits),
})
/** Those to take away are beside those that stay. */
function labelsPatch(limits: LabelLimits): Field<LabelChange> {
  const { schema, check } = labels(limits)
  const text = schema['additionalProperties'] as JsonSchema
  return {
    schema: { ...schema, maxProperties: 2 * limits.most, additionalProperties: nullable(text) },
    check,
  }
}
const list = { type: ['array', 'null'], items: string, minItems: 1, maxItems: 100 }
const endpointStatuses = ['active', 'inactive'] as const

/** The fields. */
export const FIELDS = {
  text: { schema: string, check: text } satisfies Field<string>,
  name: { schema: { ...string, minLength: 1, maxLength: 64 }, check: name } satisfies Field<string>,
  externalId,
  externalIdOrNull: orNull(externalId),
  webhookOrNull: orNull(webhook),
  email,
  emailOrNull: orNull(email),
  status,
  labels: labels(LABELS.account),
  labelsPatch: labelsPatch(LABELS.account),
  endpointLabels: labels(LABELS.endpoint),
  endpointLabelsPatch: labelsPatch(LABELS.endpoint),
  label: {
    schema: { ...string, description: 'a label that they have, as name:value' },
    check: matching(/^[A-Za-z0-9._-]{1,63}:/, 64 + LABELS.account.longest, 'must be name:value'),
  } satisfies Field<string>,
  time,
  limit: {
    schema: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: USUAL_LIMIT },
    check: wholeNumber(1, MAX_LIMIT, `must be a whole number from 1 to ${MAX_LIMIT}`),
  } satisfies Field<number>,
  cursor: {
    schema: { ...string, description: 'the cursor of the page before' },
    check: text,
  } satisfies Field<string>,
  endpointStatus: {
    schema: { ...string, enum: endpointStatuses },
    check: oneOf(...endpointStatuses),
  } satisfies Field<string>,
  overlap: {
    schema: {
      ...string,
      default: '1h',
      examples: ['0s', '24h', '30d'],
      description: 'how long the old key goes on, at most 30d',
    },
    check: text,
  } satisfies Field<string>,
  expiresAt: {
    schema: {
      type: ['integer', 'null'],
      minimum: 0,
      maximum: LATEST,
      description: 'Unix seconds; null is never',
    },
    check: timeOrNull,
  } satisfies Field<number | null>,
  flag: { schema: { type: 'boolean' }, check: flag } satisfies Field<boolean>,
  origins: { schema: list, check: origins } satisfies Field<readonly string[] | null>,
  addresses: { schema: list, check: addresses } satisfies Field<readonly string[] | null>,
  perSecond: {
    schema: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: 1_000_000,
      description: 'request units that it may use in a second; null is no limit of its own',
    },
    check: perSecond,
  } satisfies Field<number | null>,
  dailyLimit: {
    schema: {
      type: ['integer', 'null'],
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'request units that it may use in a calendar day (UTC); null is no limit of its own',
    },
    check: dailyLimit,
  } satisfies Field<number | null>,
} as const

/** Scopes in the OpenAPI document. */
export const SCOPE_SCHEMA: JsonSchema = { ...string, enum: SCOPES }

/** How many items a page has. */
export function limitOf(limit: number | undefined): number {
  return limit ?? USUAL_LIMIT
}
