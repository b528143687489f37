/** Management methods as the command line calls them: the operator acts for an account, by the same code. */
import type { AccountStore } from '../accounts/store.ts'
import type { Account } from '../accounts/types.ts'
import { callService } from '../service/call.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { openUsageReader } from '../usage/reader.ts'

/** A management method's answer: its result, or the sentence of its error. */
export type Managed = { readonly result: unknown } | { readonly error: string }

/** Calls `method` for `account`. */
export async function manage(
  method: string,
  params: Readonly<Record<string, unknown>> | null,
  account: Account,
  { accounts, snapshot }: { readonly accounts: AccountStore; readonly snapshot: Snapshot },
): Promise<Managed> {
  const reader = openUsageReader(snapshot.gateway.dataDir)
  try {
    const now = (): number => Math.floor(Date.now() / 1000)
    const health = { head: () => null, isHealthy: () => false }
    const usage = { totals: (id: string) => reader.totals(id), sum: notHere }
    const deps = { snapshot, accounts, usage, health, quota: () => null, now }
    const outcome = await callService(method, params === null ? [] : [params], { account }, deps)
    if (outcome === null) throw new Error(`there is no management method ${method}`)
    if ('json' in outcome) throw new Error(`${method} is not called from here`)
    return 'result' in outcome ? outcome : { error: outcome.error.message }
  } finally {
    reader.close()
  }
}

/** `tollgate usage` reads the ledger itself. */
function notHere(): never {
  throw new Error('service_usage is not called from here')
}
