import { openAccounts } from '../../../../src/stores/sqlite/accounts/store.ts'

/** What the parent asks of this process; it answers with what came of it. */
export type Order =
  | { readonly open: string }
  | { readonly create: number; readonly accountId: string }
  | { readonly suspend: string }

let store: Awaited<ReturnType<typeof openAccounts>> | undefined

async function obey(order: Order): Promise<unknown> {
  if ('open' in order) {
    store = await openAccounts({ dataDir: order.open, env: {} })
    return 'open'
  }
  if ('suspend' in order) return store!.accounts.change(order.suspend, { status: 'suspended' })
  const wish = { accountId: order.accountId, network: 'bsc' }
  const results = await Promise.all(Array.from({ length: order.create }, () => store!.endpoints.create(wish)))
  return results.map(result => (typeof result === 'string' ? result : result.apiKey))
}

process.on('message', (order: Order) => {
  obey(order).then(
    answer => process.send!({ answer }),
    (error: unknown) => process.send!({ error: error instanceof Error ? error.message : String(error) }),
  )
})
process.send!({ answer: 'ready' })
