/** Whose a key is, over HTTP. */
import { shownAccount } from './accounts.ts'
import { shownEndpoint } from './endpoints.ts'
import { FIELDS } from './fields.ts'
import { operation } from './operation.ts'
import { problem } from './problem.ts'

/** The operations on keys. */
export const keyOperations = [
  operation({
    ...{ method: 'POST', path: '/v1/keys:lookup', id: 'lookUpKey', scope: 'keys:lookup', reply: 'KeyOwner' },
    summary: 'Finds the account and the endpoint of an API key, or of an endpoint that may be deleted',
    body: { optional: { key: FIELDS.text, endpointId: FIELDS.text } },
    async run({ body: { key, endpointId } }, { accounts, endpoints, keys }) {
      if ((key === undefined) === (endpointId === undefined))
        return problem('invalid_params', 'give either key or endpointId')
      const id = endpointId ?? keys.find(key!)?.endpoint.id
      const label = id === undefined ? null : await endpoints.label(id)
      const account = label === null ? null : await accounts.find(label.accountId)
      if (id === undefined || account === null) return problem('not_found', 'nobody has it')
      const endpoint = await endpoints.find(null, id)
      return {
        json: {
          account: shownAccount(account),
          endpoint: endpoint === null ? null : shownEndpoint(endpoint),
        },
      }
    },
  }),
]
