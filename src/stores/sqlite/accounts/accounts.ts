import type { Account, AccountChange, Accounts, NewAccount } from '../../../ports/accounts.ts'
import type { AccountTable } from './account-table.ts'
import type { Changes } from './changes.ts'
import type { EndpointTable } from './endpoint-table.ts'
import { hashKey } from './secrets/hash.ts'
import { newAccountId } from './secrets/ids.ts'
import { mintToken } from './secrets/keys.ts'

/** The port Accounts on accounts.db. */
export class SqliteAccounts implements Accounts {
  readonly #table: AccountTable
  readonly #endpoints: EndpointTable
  readonly #changes: Changes
  readonly #now: () => number

  constructor(table: AccountTable, endpoints: EndpointTable, changes: Changes, now: () => number) {
    this.#table = table
    this.#endpoints = endpoints
    this.#changes = changes
    this.#now = now
  }

  create({ name, plan }: { readonly name: string; readonly plan: string }): Promise<NewAccount> {
    const dashboardToken = mintToken()
    return this.#changes.write(() => {
      const account: Account = { id: newAccountId(), name, plan, status: 'active', createdAt: this.#now() }
      this.#table.insert(account, hashKey(dashboardToken))
      return { account, dashboardToken }
    })
  }

  find(id: string): Account | null {
    return this.#table.find(id)
  }

  list(): Account[] {
    return this.#table.all()
  }

  named(name: string): string[] {
    return this.#table.named(name)
  }

  change(id: string, { plan, status }: AccountChange): Promise<Account | null> {
    return this.#changes.write(changed => {
      if (plan !== undefined) this.#table.setPlan(id, plan)
      if (status !== undefined) this.#table.setStatus(id, status)
      for (const { apiKey } of this.#endpoints.ofAccount(id)) changed.push(apiKey)
      return this.#table.find(id)
    })
  }

  rotateToken(id: string): Promise<string | null> {
    const token = mintToken()
    return this.#changes.write(() => (this.#table.setToken(id, hashKey(token)) ? token : null))
  }
}
