/** The admin API on the admin listener: finds the operation, lets the token in that may, reads what was asked, and answers. */
import type { AdminReply, Api, ApiRequest } from '../http/admin/listener.ts'
import type { Author } from '../ports/audit.ts'
import { Away } from '../ports/store-unavailable.ts'
import type { Token } from '../ports/tokens.ts'
import { readParams } from '../management/params.ts'
import type { Check } from '../management/params.ts'
import type { Fields } from './fields.ts'
import { openApi } from './openapi.ts'
import type { ApiParts, Operation } from './operation.ts'
import { OPERATIONS } from './operations.ts'
import { isProblem, problem, problemBody, problemOf } from './problem.ts'
import type { Problem, ProblemReason } from './problem.ts'

const PREFIX = '/v1/'
/** Why the listener refuses what it does not pass on. */
const BY_STATUS: Readonly<Record<number, ProblemReason>> = {
  403: 'forbidden',
  413: 'body_too_large',
  415: 'unsupported_media_type',
}

/** Characters of an Idempotency-Key. */
const IDEMPOTENCY_KEY = /^[\x21-\x7e]{1,255}$/

interface Matcher {
  readonly pattern: RegExp
  readonly operations: readonly Operation[]
}

/** Answers what is asked under `/v1/` and for `/openapi.json`. */
export function makeApi(parts: ApiParts): Api {
  const matchers = [...new Set(OPERATIONS.map(({ path }) => path))].map((path): Matcher => ({
    pattern: new RegExp(`^${path.replace('{id}', '([^/]+)')}$`),
    operations: OPERATIONS.filter(operation => operation.path === path),
  }))
  const document = { status: 200, json: openApi() }
  const answered: Api['answer'] = request => {
    const { path, method } = request
    if (path === '/openapi.json')
      return Promise.resolve(method === 'GET' ? document : encode(wrongMethod(['GET'])))
    return path.startsWith(PREFIX) ? answer(request, matchers, parts) : null
  }
  return {
    answer: answered,
    refused: (path, { status, error }) => {
      const reason = BY_STATUS[status] ?? 'invalid_params'
      return path.startsWith(PREFIX) ? encode(problem(reason, error, { status })) : null
    },
  }
}

async function answer(
  request: ApiRequest,
  matchers: readonly Matcher[],
  parts: ApiParts,
): Promise<AdminReply> {
  const token = await authenticated(request, parts)
  if (isProblem(token)) return encode(token)
  for (const { pattern, operations } of matchers) {
    const found = pattern.exec(request.path)
    if (found === null) continue
    const operation = operations.find(({ method }) => method === request.method)
    if (operation === undefined) return encode(wrongMethod(operations.map(({ method }) => method)))
    return carryOut(operation, { id: decode(found[1] ?? ''), request, token }, parts)
  }
  return encode(problem('not_found', 'there is no such path; GET /openapi.json lists them'))
}

async function authenticated({ headers }: ApiRequest, { tokens }: ApiParts): Promise<Token | Problem> {
  const [, secret] = /^Bearer ([^\s]+)$/i.exec(headers.authorization ?? '') ?? []
  const token = secret === undefined ? null : await tokens.find(secret)
  if (token !== null) return token
  const detail =
    secret === undefined
      ? 'send a token of `tollgate token create` as "Authorization: Bearer …"'
      : 'the token is unknown, has expired or was revoked'
  return problem('unauthorized', detail, { headers: { 'www-authenticate': 'Bearer' } })
}

async function carryOut(
  operation: Operation,
  { id, request, token }: { readonly id: string; readonly request: ApiRequest; readonly token: Token },
  parts: ApiParts,
): Promise<AdminReply> {
  const { scope, query, body, status } = operation
  if (!token.scopes.includes(scope)) {
    const headers = { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` }
    return encode(
      problem('forbidden', `the token does not have the scope ${scope}`, { more: { scope }, headers }),
    )
  }
  const asked = readQuery(request.query, query)
  if (isProblem(asked)) return encode(asked)
  if (request.body === undefined)
    return encode(
      problem(
        'parse_error',
        'the body is not valid JSON: it must be UTF-8, have each member once, and nest at most 1000 levels',
      ),
    )
  const sent = readBody(request.body, body)
  if (isProblem(sent)) return encode(sent)
  const by = authorOf(operation, request, token)
  if (isProblem(by)) return encode(by)
  const answered = await orUnavailable(() => operation.run({ id, query: asked, body: sent, by }, parts))
  if (isProblem(answered)) return encode(answered)
  if ('text' in answered) return { status, text: answered.text, type: 'application/json' }
  if (status === 204) return { status, text: '', type: '' }
  const { json, location } = answered
  return { status, json, ...(location === undefined ? {} : { headers: { location } }) }
}

/** The answer; a problem where it cannot be written. */
async function orUnavailable<T>(answer: () => Promise<T> | T): Promise<T | Problem> {
  try {
    return await answer()
  } catch (error) {
    if (error instanceof Away) return problem('store_unavailable', error.publicMessage)
    throw error
  }
}

/** Who asks, and whether the request is to be carried out once: for each token and operation a key means one request. */
function authorOf(
  { id, isOnce }: Operation,
  { headers, path, body }: ApiRequest,
  token: Token,
): Author | Problem {
  const actor = `token:${token.id}` as const
  const key = headers['idempotency-key']
  if (key === undefined || !isOnce) return { actor }
  if (typeof key !== 'string' || !IDEMPOTENCY_KEY.test(key))
    return problem('invalid_params', 'Idempotency-Key must be 1 to 255 printable ASCII characters')
  return { actor, once: { key: `${token.id} ${id} ${key}`, request: `${path} ${canonical(body)}` } }
}

/** JSON whose members are in one order: a client may write them in another when it sends a request again. */
function canonical(body: unknown): string {
  return JSON.stringify(body, (_, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  )
}

type Values = Readonly<Record<string, never>>

function readQuery(query: string, fields: Fields): Values | Problem {
  const given: Record<string, string> = {}
  for (const [name, value] of new URLSearchParams(query)) {
    if (Object.hasOwn(given, name)) return problem('invalid_params', `${name} is given twice`)
    Object.defineProperty(given, name, { value, enumerable: true })
  }
  return read(given, {}, fields, 'parameter')
}

function readBody(body: unknown, fields: Operation['body']): Values | Problem {
  if (fields === null) return body === null ? {} : problem('invalid_params', 'this operation takes no body')
  if (typeof body !== 'object' || Array.isArray(body))
    return problem('invalid_params', 'the body must be a JSON object')
  return read(body ?? {}, fields.required, fields.optional, 'field')
}

function read(given: object, required: Fields, optional: Fields, what: string): Values | Problem {
  const result = readParams(given, checksOf(required), checksOf(optional), what)
  return 'error' in result ? problemOf(result.error) : (result.values as Values)
}

function checksOf(fields: Fields): Readonly<Record<string, Check<unknown>>> {
  return Object.fromEntries(Object.entries(fields).map(([name, { check }]) => [name, check]))
}

function wrongMethod(allowed: readonly string[]): Problem {
  return problem('method_not_allowed', `this path accepts ${allowed.join(', ')}`, {
    headers: { allow: allowed.join(', ') },
  })
}

function encode(refused: Problem): AdminReply {
  const { headers, problem } = refused
  const json = problemBody(refused)
  return { status: problem.status, json, type: 'application/problem+json', ...(headers && { headers }) }
}

/** What stands in a path; as it was sent where that is not well-formed. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
