/** The OpenAPI 3.1 document of the admin API, made of its operations. */
import { version } from '../config/version.ts'
import type { Fields, JsonSchema } from './fields.ts'
import type { Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { SCHEMAS } from './schemas.ts'
import type { SchemaName } from './schemas.ts'

const problems = {
  description: 'a problem (RFC 9457)',
  content: { 'application/problem+json': { schema: ref('Problem') } },
}

/** Makes the document. */
export function openApi(): JsonSchema {
  const paths: Record<string, Record<string, JsonSchema>> = {}
  for (const operation of OPERATIONS)
    (paths[operation.path] ??= {})[operation.method.toLowerCase()] = shown(operation)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Tollgate admin API',
      version,
      description:
        'Accounts, endpoints, usage and the audit trail, for the operator of a gateway. Times are Unix seconds.',
    },
    servers: [{ url: '/', description: 'the admin listener' }],
    security: [{ token: [] }],
    paths,
    components: {
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'a token of `tollgate token create --scope …`',
        },
      },
      schemas: SCHEMAS,
    },
  }
}

function shown(operation: Operation): JsonSchema {
  const { id, summary, scope, query, body, isOnce, status, reply, path, method } = operation
  const parameters = [
    ...(path.includes('{id}')
      ? [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }]
      : []),
    ...Object.entries(query).map(([name, { schema }]) => ({ name, in: 'query', schema })),
    ...(isOnce ? [idempotencyKey] : []),
  ]
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
  const content = { [type]: { schema: body === null ? {} : bodyOf(body.required, body.optional) } }
  return {
    operationId: id,
    summary,
    description: `Scope: ${scope}`,
    'x-scope': scope,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === null ? {} : { requestBody: { required: true, content } }),
    responses: { [String(status)]: answered(reply), default: problems },
  }
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description:
    'the request is carried out once for each key, for 24 hours; sent again it is answered as the first time',
}

function answered(reply: SchemaName | null): JsonSchema {
  return reply === null
    ? { description: 'done' }
    : { description: 'done', content: { 'application/json': { schema: ref(reply) } } }
}

function bodyOf(required: Fields, optional: Fields): JsonSchema {
  const properties = Object.fromEntries(
    Object.entries({ ...required, ...optional }).map(([name, { schema }]) => [name, schema]),
  )
  const names = Object.keys(required)
  return {
    type: 'object',
    properties,
    additionalProperties: false,
    ...(names.length === 0 ? {} : { required: names }),
  }
}

function ref(name: string): JsonSchema {
  return { $ref: `#/components/schemas/${name}` }
}
