/** The admin API as a hand-written client uses it: every reply is held to the OpenAPI document. */
import addFormats from 'ajv-formats'
import { Ajv2020 } from 'ajv/dist/2020.js'
import type { ValidateFunction } from 'ajv/dist/2020.js'
import { openApi } from '../../src/api/openapi.ts'
import type { Scope } from '../../src/ports/tokens.ts'
import { withAccounts } from './accounts.ts'
import type { Gateway } from './gateway.ts'

/** A reply, whose body has been found to be what the document says. */
export interface ApiReply {
  readonly status: number
  readonly headers: Headers
  // A test knows what it asked for.
  readonly body: any
}

interface Shown {
  readonly operationId: string
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { schema: object }>> }>
  >
}

const document = openApi() as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Shown>>>>
}
const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
ajv.addSchema({ $id: 'document', ...document })

/** A client with one token. */
export class AdminApi {
  /** `METHOD /path/{id} status` of every reply so far, over all clients. */
  static readonly seen = new Set<string>()
  readonly #gateway: Gateway
  readonly token: string | null

  constructor(gateway: Gateway, token: string | null) {
    this.#gateway = gateway
    this.token = token
  }

  /** Asks; throws where the reply is not what the document says. */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<ApiReply> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const response = await fetch(`${this.#gateway.adminUrl}${path}`, {
      method,
      headers: {
        ...(this.token === null ? {} : { authorization: `Bearer ${this.token}` }),
        ...(body === undefined ? {} : { 'content-type': type }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const reply = {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : (JSON.parse(text) as unknown),
    }
    hold(method, path.split('?')[0]!, reply)
    return reply
  }
}

/** A client with a new token of these scopes. */
export async function adminApi(gateway: Gateway, ...scopes: readonly Scope[]): Promise<AdminApi> {
  const { secret } = await withAccounts(gateway, store =>
    store.tokens.create({ name: null, scopes, expiresAt: null }),
  )
  return new AdminApi(gateway, secret)
}

function hold(method: string, path: string, { status, headers, body }: ApiReply): void {
  const template = Object.keys(document.paths).find(each =>
    new RegExp(`^${each.replace('{id}', '[^/]+')}$`).test(path),
  )
  const operation = template === undefined ? undefined : document.paths[template]![method.toLowerCase()]
  const isDone = status < 300
  const content = isDone ? operation?.responses[String(status)]?.content : undefined
  if (isDone && operation?.responses[String(status)] === undefined)
    throw new Error(`the document has no ${status} of ${method} ${path}`)
  const type = isDone ? 'application/json' : 'application/problem+json'
  if (body === null && content === undefined && isDone) {
    if (headers.get('content-type') !== null) throw new Error('nothing has a type')
  } else {
    if (headers.get('content-type') !== type) throw new Error(`the type is ${headers.get('content-type')}`)
    const validate = isDone ? schemaOf(content) : problemSchema()
    if (!validate(body))
      throw new Error(`${method} ${path}: ${ajv.errorsText(validate.errors)}: ${JSON.stringify(body)}`)
  }
  if (!isDone && (body as { status?: unknown }).status !== status) throw new Error('a problem has its status')
  AdminApi.seen.add(`${method} ${template ?? '?'} ${status}`)
}

function schemaOf(content: Shown['responses'][string]['content']): ValidateFunction {
  const { $ref } = content!['application/json']!.schema as { readonly $ref: string }
  return ajv.getSchema(`document${$ref}`)!
}

function problemSchema(): ValidateFunction {
  return ajv.getSchema('document#/components/schemas/Problem')!
}
