/** Whose a key is, over HTTP. */
import { shownAccount } from './accounts.ts'
import { shownEndpoint } from './endpoints.ts'
import { FIELDS } from './fields.ts'
import { operation } from './operation.ts'
import { problem } from './problem.ts'

/** What a lookup takes of a call. */
interface Called {
  readonly endpoint: string | null
}

/** The operations on keys. */
export const keyOperations = [
  operation({
    method: 'POST',
    path: '/v1/keys:lookup',
    id: 'lookUpKey',
    scope: 'keys:lookup',
    reply: 'KeyOwner',
    summary:
      'Finds the account and the endpoint of an API key, of an endpoint that may be deleted, or of a request by its X-Request-Id: of one that failed of late, or that is in the access log',
    body: { optional: { key: FIELDS.text, endpointId: FIELDS.text, requestId: FIELDS.text } },
    async run({ body: { key, endpointId, requestId } }, { accounts, endpoints, keys, calls: known }) {
      if ([key, endpointId, requestId].filter(one => one !== undefined).length !== 1)
        return problem('invalid_params', 'give one of key, endpointId and requestId')
      const calls = requestId === undefined ? null : ((await known.find(requestId)) as readonly Called[])
      const id =
        endpointId ?? calls?.[0]?.endpoint ?? (key === undefined ? undefined : keys.find(key)?.endpoint.id)
      const label = id === undefined ? null : await endpoints.label(id)
      const account = label === null ? null : await accounts.find(label.accountId)
      if (id === undefined || account === null)
        return problem('not_found', 'no account has this key, endpoint or request')
      const endpoint = await endpoints.find(null, id)
      return {
        json: {
          account: shownAccount(account),
          endpoint: endpoint === null ? null : shownEndpoint(endpoint),
          calls,
        },
      }
    },
  }),
]
