/** What the admin API answers, as JSON Schemas: the OpenAPI document has them, and tests hold replies to them. */
import { BUCKETS } from '../ports/latency.ts'
import type { JsonSchema } from './fields.ts'
import { REASONS } from './problem.ts'

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const count = { type: 'integer', minimum: 0 }
const units = { ...count, description: 'request units: what calls cost' }
const time = { ...count, description: 'Unix seconds' }
const timeOrNull = { ...time, type: ['integer', 'null'] }
const labels = { type: 'object', additionalProperties: text }
const listOrNull = { type: ['array', 'null'], items: text }
const webhook = {
  ...textOrNull,
  description: 'where its events are posted to: scheme and host, and at most the first part of the path',
}
const ms = { type: 'number', minimum: 0 }
const latency = {
  ...object({
    p50: { ...ms, description: 'milliseconds that half of the calls did not exceed' },
    p95: { ...ms, description: 'milliseconds that 95 of 100 calls did not exceed' },
    buckets: {
      type: 'object',
      additionalProperties: count,
      description: `calls by the least of these bounds in milliseconds that they did not exceed: ${BUCKETS.join(', ')}`,
    },
  }),
  type: ['object', 'null'],
  description:
    'how long upstreams took, estimated from the buckets; null where no call was counted, as in what older versions have recorded',
}
const members = { type: ['object', 'null'], additionalProperties: true }

/** An object that has exactly these members, each time. */
function object(
  properties: Readonly<Record<string, JsonSchema>>,
  optional: readonly string[] = [],
): JsonSchema {
  const required = Object.keys(properties).filter(name => !optional.includes(name))
  return { type: 'object', properties, required, additionalProperties: false }
}

function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}

function page(item: string): JsonSchema {
  const cursor = { ...textOrNull, description: 'asks for the next page as ?cursor=; null on the last one' }
  return object({ items: { type: 'array', items: ref(item) }, cursor })
}

const account = {
  accountId: text,
  name: text,
  plan: text,
  status: { ...text, enum: ['active', 'suspended'] },
  createdAt: time,
  externalId: textOrNull,
  email: textOrNull,
  labels,
}
const endpoint = {
  endpointId: text,
  accountId: text,
  network: text,
  name: text,
  status: { ...text, enum: ['active', 'inactive'] },
  createdAt: time,
  management: { type: 'boolean' },
  allowedOrigins: listOrNull,
  allowedIps: listOrNull,
  perSecond: { type: ['number', 'null'] },
  dailyLimit: { type: ['integer', 'null'], minimum: 1, description: 'request units in a calendar day (UTC)' },
  expiresAt: timeOrNull,
  labels,
  lastUsedAt: { ...timeOrNull, description: 'the hour of its last call, in Unix seconds' },
  keyHint: { ...text, description: 'the last characters of its key' },
}

/** The schemas by their names. */
export const SCHEMAS = {
  Account: object(account),
  AccountState: object({
    ...account,
    quota: {
      anyOf: [object({ requests: units, used: units, resetsAt: time }), { type: 'null' }],
    },
    rate: {
      anyOf: [object({ perSecond: { type: 'number' }, burst: { type: 'number' } }), { type: 'null' }],
    },
    endpoints: object({ used: count, limit: count }),
    webhook,
  }),
  ChangedAccount: object(
    {
      ...account,
      webhook,
      webhookSecret: { ...text, description: 'signs its messages (Standard Webhooks); shown only now' },
    },
    ['webhookSecret'],
  ),
  NewAccount: object({
    ...account,
    dashboardToken: { ...text, description: 'signs its owner in at the dashboard; shown only now' },
  }),
  AccountPage: page('Account'),
  Endpoint: object(endpoint),
  NewEndpoint: object(
    {
      ...endpoint,
      apiKey: { ...text, description: 'shown here and to its owner' },
      httpsUrl: text,
      wssUrl: text,
    },
    ['wssUrl'],
  ),
  EndpointPage: page('Endpoint'),
  RotatedKey: object(
    {
      ...endpoint,
      apiKey: text,
      httpsUrl: text,
      wssUrl: text,
      oldKeyExpiresAt: { ...timeOrNull, description: 'when the key before it ends; null when it has' },
    },
    ['wssUrl'],
  ),
  UsageRow: object(
    {
      time: { ...time, description: 'the beginning of the hour or day, in Unix seconds' },
      accountId: text,
      endpointId: text,
      network: text,
      method: text,
      reason: text,
      calls: count,
      requests: units,
      errors: count,
      refusals: count,
      bytesOut: count,
      upstreamMs: count,
      refusalsByReason: { type: 'object', additionalProperties: count },
      latency,
      other: { ...count, description: 'how many groups the row stands for that are not among the largest' },
    },
    [
      'time',
      'accountId',
      'endpointId',
      'network',
      'method',
      'reason',
      'calls',
      'requests',
      'errors',
      'bytesOut',
      'upstreamMs',
      'refusalsByReason',
      'latency',
      'other',
    ],
  ),
  UsagePage: object(
    {
      from: time,
      to: time,
      by: { ...text, enum: ['hour', 'day'] },
      rows: { type: 'array', items: ref('UsageRow') },
      cursor: { ...text, description: 'asks for the next page as ?cursor=; absent on the last one' },
    },
    ['cursor'],
  ),
  AuditEntry: object({
    time,
    actor: text,
    action: text,
    target: text,
    accountId: textOrNull,
    before: members,
    after: members,
  }),
  AuditPage: page('AuditEntry'),
  Call: object(
    {
      time: { ...text, format: 'date-time' },
      msg: { ...text, enum: ['call', 'refusal'] },
      requestId: text,
      account: textOrNull,
      endpoint: textOrNull,
      network: text,
      method: textOrNull,
      route: textOrNull,
      status: { type: 'integer' },
      reason: textOrNull,
      outcome: { ...text, enum: ['ok', 'error', 'refused', 'failed'] },
      plan: text,
      transport: text,
      requests: units,
      ms: { type: 'number' },
      upstreamMs: { type: 'number' },
    },
    ['transport', 'requests', 'ms', 'upstreamMs'],
  ),
  KeyOwner: object({
    account: ref('Account'),
    endpoint: { anyOf: [ref('Endpoint'), { type: 'null' }] },
    calls: {
      type: ['array', 'null'],
      items: ref('Call'),
      description: 'of the request, where one was given',
    },
  }),
  Problem: {
    ...object({
      type: { ...text, format: 'uri-reference' },
      title: text,
      status: { type: 'integer' },
      detail: text,
      reason: { ...text, enum: REASONS },
    }),
    additionalProperties: true,
  },
} as const satisfies Readonly<Record<string, JsonSchema>>

/** The name of one. */
export type SchemaName = keyof typeof SCHEMAS
