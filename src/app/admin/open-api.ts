/** Joins the admin API to the live parts of this process. */
import { makeApi } from '../../api/api.ts'
import type { Gateway } from '../../call/gateway.ts'
import type { Api } from '../../http/admin/listener.ts'
import type { ServiceReply } from '../../management/types.ts'
import type { ApiParts } from '../../api/operation.ts'
import type { AccountStore } from '../../stores/sqlite/accounts/store.ts'

/** The admin API of a gateway. */
export function openApi(
  gateway: Gateway,
  store: AccountStore,
  { calls, usage }: Pick<ApiParts, 'calls' | 'usage'>,
): Api {
  const { accounts, endpoints, tokens, audit, alerts } = store
  return makeApi({
    accounts,
    endpoints,
    tokens,
    audit,
    alerts,
    calls,
    usage,
    keys: { find: key => store.findByKey(key) },
    snapshot: () => gateway.snapshot,
    manage: async (method, params, caller) => {
      const { live, snapshot } = gateway
      const reply = await live.management.answer(method, params, { endpoint: null, ...caller }, snapshot)
      if (reply === null) throw new Error(`there is no method ${method}`)
      return reply as ServiceReply
    },
  })
}
