/** What members of bodies and queries of the admin API are: how each is read, and how the OpenAPI document shows it. */
import { MAX_LABELS } from '../ports/accounts.ts'
import type { AccountStatus } from '../ports/accounts.ts'
import { LATEST } from '../ports/clock.ts'
import { SCOPES } from '../ports/tokens.ts'
import { addresses, dailyLimit, flag, name, oneOf, origins, perSecond } from '../management/checks.ts'
import { text, timeOrNull, webhook as webhookUrl } from '../management/checks.ts'
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
const MAX_TEXT = 255
const LABEL = /^[A-Za-z0-9._-]{1,63}$/
// Neither control nor line-breaking characters.
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]*$/u

const nullable = (schema: JsonSchema): JsonSchema => ({ ...schema, type: [schema['type'], 'null'] })

function orNull<T>(field: Field<T>): Field<T | null> {
  return {
    schema: nullable(field.schema),
    check: value => (value === null ? { value } : field.check(value)),
  }
}

/** The labels that are given, null for those to take away. */
export type LabelChange = Readonly<Record<string, string | null>>

function labels(value: unknown): ReturnType<Check<LabelChange>> {
  const wrong = `must be an object of at most ${MAX_LABELS} strings of at most ${MAX_TEXT} printable characters`
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { wrong }
  const entries = Object.entries(value)
  if (entries.length > MAX_LABELS) return { wrong }
  for (const [name, each] of entries) {
    if (!LABEL.test(name))
      return {
        wrong: `${wrong}; ${JSON.stringify(name.slice(0, 64))} is not a name of 1 to 63 letters, digits, ., _ and -`,
      }
    const isText = typeof each === 'string' && each.length <= MAX_TEXT && PRINTABLE.test(each)
    if (each !== null && !isText) return { wrong: `${wrong}; ${name} is not` }
  }
  return { value: Object.fromEntries(entries) }
}

function wholeNumber(min: number, max: number, wrong: string): Check<number> {
  return value => {
    const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN
    return number >= min && number <= max ? { value: number } : { wrong }
  }
}

function matching(pattern: RegExp, max: number, wrong: string): Check<string> {
  return value =>
    typeof value === 'string' && value.length <= max && pattern.test(value) ? { value } : { wrong }
}

const string = { type: 'string' }
const time: Field<number> = {
  schema: { type: 'integer', minimum: 0, maximum: LATEST, description: 'Unix seconds' },
  check: wholeNumber(0, LATEST, `must be a whole number of Unix seconds, ${LATEST} at most`),
}
const statuses = ['active', 'suspended'] as const
const externalId: Field<string> = {
  schema: { ...string, minLength: 1, maxLength: MAX_TEXT },
  check: matching(
    /^[\p{L}\p{M}\p{N}\p{P}\p{S}\p{Zs}]+$/u,
    MAX_TEXT,
    `must be 1 to ${MAX_TEXT} printable characters`,
  ),
}
const webhook: Field<string> = {
  schema: {
    ...string,
    format: 'uri',
    maxLength: 2048,
    description: 'where events of the account are posted to',
  },
  check: webhookUrl,
}
const email: Field<string> = {
  schema: { ...string, format: 'email', maxLength: 254 },
  check: matching(/^[^\s@]+@[^\s@]+$/, 254, 'must be an email address'),
}
const status: Field<AccountStatus> = {
  schema: { ...string, enum: statuses },
  check: oneOf(...statuses),
}
const labelText = { ...string, maxLength: MAX_TEXT, pattern: PRINTABLE.source }
const labelsSchema = {
  ...{ type: 'object', maxProperties: MAX_LABELS, propertyNames: { pattern: LABEL.source } },
  additionalProperties: labelText,
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
  labels: { schema: labelsSchema, check: labels } satisfies Field<LabelChange>,
  labelsPatch: {
    schema: { ...labelsSchema, additionalProperties: nullable(labelText) },
    check: labels,
  } satisfies Field<LabelChange>,
  label: {
    schema: { ...string, description: 'a label that they have, as name:value' },
    check: matching(/^[A-Za-z0-9._-]{1,63}:/, 64 + MAX_TEXT, 'must be name:value'),
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
      ...{ type: ['integer', 'null'], minimum: 0, maximum: LATEST },
      description: 'Unix seconds; null is never',
    },
    check: timeOrNull,
  } satisfies Field<number | null>,
  flag: { schema: { type: 'boolean' }, check: flag } satisfies Field<boolean>,
  origins: { schema: list, check: origins } satisfies Field<readonly string[] | null>,
  addresses: { schema: list, check: addresses } satisfies Field<readonly string[] | null>,
  perSecond: {
    schema: { type: ['integer', 'null'], minimum: 1, maximum: 1_000_000 },
    check: perSecond,
  } satisfies Field<number | null>,
  dailyLimit: {
    schema: {
      ...{ type: ['integer', 'null'], minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
      description: 'requests that it may use in a calendar day (UTC); null is no limit of its own',
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
