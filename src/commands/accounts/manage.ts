/** Management methods as the command line calls them: the operator acts for an account, by the same code. */
import type { AccountStore } from '../../stores/sqlite/accounts/store.ts'
import { OPERATOR } from '../../ports/audit.ts'
import type { Account } from '../../ports/accounts.ts'
import type { Served } from '../../http/admin/served.ts'
import type { AccountCaller, EndpointDeps, ServiceReply } from '../../management/types.ts'
import { openUsageReader } from '../../stores/sqlite/usage/reader.ts'
import type { OpenReader } from '../../stores/sqlite/usage/reader.ts'

/** A management method about endpoints. */
export type Method = (
  params: unknown,
  caller: AccountCaller,
  deps: EndpointDeps,
) => ServiceReply | Promise<ServiceReply>

/** A management method's answer: its result, or the sentence of its error. */
export type Managed = { readonly result: unknown } | { readonly error: string }

/** What a method works on. */
export interface Ground {
  readonly store: AccountStore
  readonly dataDir: string
  /** Null where it is not known: endpoints are shown without their URLs then. */
  readonly served: Served | null
  /** What totals are read from, and closed with; default: what this machine has. */
  readonly usage?: OpenReader
}

/** Calls `method` for `account`. */
export async function manage(
  method: Method,
  params: Readonly<Record<string, unknown>> | null,
  account: Account,
  { store, dataDir, served, usage = openUsageReader(dataDir) }: Ground,
): Promise<Managed> {
  try {
    const deps = {
      snapshot: { networks: served?.networks ?? {}, plans: {} },
      endpoints: store.endpoints,
      usage,
    }
    const reply = await method(params === null ? [] : [params], { account, by: OPERATOR }, deps)
    if ('json' in reply) throw new Error('this method is not called from here')
    return 'result' in reply ? reply : { error: reply.error.message }
  } finally {
    usage.close()
  }
}
