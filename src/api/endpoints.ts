/** Endpoints over HTTP: by the management methods that their owners have. */
import type { Account } from '../ports/accounts.ts'
import type { Author } from '../ports/audit.ts'
import type { EndpointWithKey } from '../ports/endpoints.ts'
import type { ServiceReply } from '../management/types.ts'
import { noAccount } from './accounts.ts'
import { FIELDS } from './fields.ts'
import { operation } from './operation.ts'
import type { ApiAnswer, ApiParts } from './operation.ts'
import { problem, problemOf } from './problem.ts'
import type { Problem } from './problem.ts'

/** Characters by which its owner tells a key from others. */
const HINT = 4

/** What is said of an endpoint when it is made, and changed later. */
const SETTINGS = {
  name: FIELDS.name,
  status: FIELDS.endpointStatus,
  management: FIELDS.flag,
  allowedOrigins: FIELDS.origins,
  allowedIps: FIELDS.addresses,
  perSecond: FIELDS.perSecond,
  dailyLimit: FIELDS.dailyLimit,
  expiresAt: FIELDS.expiresAt,
} as const

/** The operations on endpoints. */
export const endpointOperations = [
  operation({
    method: 'GET',
    path: '/v1/accounts/{id}/endpoints',
    id: 'listEndpoints',
    scope: 'accounts:read',
    reply: 'EndpointPage',
    summary:
      'Lists the endpoints of an account in the order of their creation; there are 100 at most, on one page',
    async run({ id }, { accounts, endpoints }) {
      if ((await accounts.find(id)) === null) return noAccount()
      return { json: { items: (await endpoints.list(id)).map(shownEndpoint), cursor: null } }
    },
  }),
  operation({
    method: 'POST',
    path: '/v1/accounts/{id}/endpoints',
    id: 'createEndpoint',
    scope: 'accounts:write',
    status: 201,
    isOnce: true,
    reply: 'NewEndpoint',
    summary:
      'Makes an endpoint with a key on a network, with what its key may be used for; without a name it is given one',
    body: {
      required: { network: FIELDS.text },
      optional: { ...SETTINGS, labels: FIELDS.endpointLabels },
    },
    async run({ id, body: { network, ...named }, by }, parts) {
      const account = await parts.accounts.find(id)
      if (account === null) return noAccount()
      const { networks } = parts.snapshot()
      if (!Object.hasOwn(networks, network))
        return problem('invalid_params', `network must be one of ${Object.keys(networks).join(', ')}`)
      const wish = { chain: network, ...named }
      const reply = await parts.manage('service_createEndpoint', wish, { account, by })
      return answer(reply, parts, ({ apiKey, httpsUrl, wssUrl }, endpoint) => ({
        json: { ...shownEndpoint(endpoint), apiKey, httpsUrl, ...(wssUrl === undefined ? {} : { wssUrl }) },
        location: `/v1/endpoints/${endpoint.id}`,
      }))
    },
  }),
  operation({
    method: 'GET',
    path: '/v1/endpoints/{id}',
    id: 'getEndpoint',
    scope: 'accounts:read',
    reply: 'Endpoint',
    summary: 'Shows an endpoint without its key',
    async run({ id }, { endpoints }) {
      const endpoint = await endpoints.find(null, id)
      return endpoint === null ? noEndpoint() : { json: shownEndpoint(endpoint) }
    },
  }),
  operation({
    method: 'PATCH',
    path: '/v1/endpoints/{id}',
    id: 'updateEndpoint',
    scope: 'accounts:write',
    reply: 'Endpoint',
    summary:
      'Changes an endpoint: whether it is active, what its key may be used for, and labels (JSON merge patch)',
    body: {
      optional: { ...SETTINGS, labels: FIELDS.endpointLabelsPatch },
    },
    run: ({ id, body, by }, parts) =>
      forOwner(id, by, parts, async caller => {
        const reply = await parts.manage('service_updateEndpoint', { endpointId: id, ...body }, caller)
        return answer(reply, parts, (_, endpoint) => ({ json: shownEndpoint(endpoint) }))
      }),
  }),
  operation({
    method: 'POST',
    path: '/v1/endpoints/{id}/rotate',
    id: 'rotateKey',
    scope: 'accounts:write',
    isOnce: true,
    reply: 'RotatedKey',
    summary: 'Gives an endpoint a new key; the old one goes on for a while',
    body: { optional: { overlap: FIELDS.overlap } },
    run: ({ id, body, by }, parts) =>
      forOwner(id, by, parts, async caller => {
        const reply = await parts.manage('service_rotateKey', { endpointId: id, ...body }, caller)
        return answer(reply, parts, ({ apiKey, httpsUrl, wssUrl, oldKeyExpiresAt }, endpoint) => ({
          json: {
            ...shownEndpoint(endpoint),
            apiKey,
            httpsUrl,
            oldKeyExpiresAt,
            ...(wssUrl === undefined ? {} : { wssUrl }),
          },
        }))
      }),
  }),
  operation({
    method: 'DELETE',
    path: '/v1/endpoints/{id}',
    id: 'deleteEndpoint',
    scope: 'accounts:write',
    reply: null,
    summary: 'Deletes an endpoint and its key; its usage stays',
    status: 204,
    run: ({ id, by }, parts) =>
      forOwner(id, by, parts, async caller => {
        const reply = await parts.manage('service_deleteEndpoint', { endpointId: id }, caller)
        return 'error' in reply ? problemOf(reply.error) : { json: null }
      }),
  }),
]

/** An endpoint as the API shows it: not its key, which only its owner sees. */
export function shownEndpoint(endpoint: EndpointWithKey) {
  const { id: endpointId, accountId, network, name, status, createdAt, management } = endpoint
  const { allowedOrigins, allowedIps, perSecond, dailyLimit, expiresAt, lastUsedAt, labels, apiKey } =
    endpoint
  const limits = { perSecond, dailyLimit, expiresAt }
  const settings = { management, allowedOrigins, allowedIps, ...limits, lastUsedAt, labels }
  return {
    endpointId,
    accountId,
    network,
    name,
    status,
    createdAt,
    ...settings,
    keyHint: apiKey.slice(-HINT),
  }
}

/** That there is no such endpoint. */
export function noEndpoint(): Problem {
  return problem('endpoint_not_found', 'there is no such endpoint')
}

/** Acts for the account whose endpoint it is. */
async function forOwner(
  endpointId: string,
  by: Author,
  { accounts, endpoints }: ApiParts,
  act: (caller: { account: Account; by: Author }) => Promise<ApiAnswer>,
): Promise<ApiAnswer> {
  const endpoint = await endpoints.find(null, endpointId)
  const account = endpoint === null ? null : await accounts.find(endpoint.accountId)
  return account === null ? noEndpoint() : act({ account, by })
}

/** What a management method said of an endpoint. */
async function answer(
  reply: ServiceReply,
  { endpoints }: ApiParts,
  show: (identity: Readonly<Record<string, string>>, endpoint: EndpointWithKey) => ApiAnswer,
): Promise<ApiAnswer> {
  if ('error' in reply) return problemOf(reply.error)
  const identity = (reply as { result: unknown }).result as Readonly<Record<string, string>>
  // It may have been deleted again meanwhile.
  const endpoint = await endpoints.find(null, identity['endpointId']!)
  return endpoint === null ? noEndpoint() : show(identity, endpoint)
}
