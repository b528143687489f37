import { ENDPOINT_LIMIT } from '../../../ports/endpoints.ts'
import type {
  Endpoint,
  EndpointChange,
  EndpointLabel,
  Endpoints,
  EndpointWish,
  EndpointWithKey,
} from '../../../ports/endpoints.ts'
import type { AccountTable } from './account-table.ts'
import type { Changes } from './changes.ts'
import type { EndpointTable } from './endpoint-table.ts'
import { newEndpointId } from './secrets/ids.ts'
import { mintKey } from './secrets/keys.ts'
import { generateName } from './name.ts'

/** The port Endpoints on accounts.db. */
export class SqliteEndpoints implements Endpoints {
  readonly #table: EndpointTable
  readonly #accounts: AccountTable
  readonly #changes: Changes
  readonly #now: () => number

  constructor(table: EndpointTable, accounts: AccountTable, changes: Changes, now: () => number) {
    this.#table = table
    this.#accounts = accounts
    this.#changes = changes
    this.#now = now
  }

  create({
    accountId,
    network,
    name = generateName(network),
  }: EndpointWish): Promise<EndpointWithKey | 'limit_reached' | 'no_account'> {
    return this.#changes.write(() => {
      if (this.#accounts.find(accountId) === null) return 'no_account'
      if (this.#table.count(accountId) >= ENDPOINT_LIMIT) return 'limit_reached'
      const open = { management: true, allowedOrigins: null, allowedIps: null, perSecond: null }
      const fresh = { id: newEndpointId(), status: 'active', createdAt: this.#now() } as const
      const endpoint: EndpointWithKey = { ...fresh, ...open, apiKey: mintKey(), accountId, network, name }
      this.#table.insert(endpoint)
      return endpoint
    })
  }

  find(accountId: string | null, endpointId: string): EndpointWithKey | null {
    const endpoint = this.#table.findWithKey(endpointId)
    return endpoint === null || (accountId !== null && endpoint.accountId !== accountId) ? null : endpoint
  }

  list(accountId: string): EndpointWithKey[] {
    return this.#table.ofAccount(accountId)
  }

  count(accountId: string): number {
    return this.#table.count(accountId)
  }

  label(endpointId: string): EndpointLabel | null {
    return this.#table.label(endpointId)
  }

  change(
    accountId: string | null,
    endpointId: string,
    change: EndpointChange,
  ): Promise<EndpointWithKey | null> {
    return this.#changes.write(changed => {
      const before = this.find(accountId, endpointId)
      if (before === null) return null
      const closing = (change.allowedOrigins ?? null) === null ? {} : { management: false }
      const after = { ...before, ...closing, ...change }
      this.#table.update(after)
      changed.push(after.apiKey)
      return after
    })
  }

  remove(accountId: string | null, endpointId: string): Promise<Endpoint | null> {
    return this.#changes.write(changed => {
      const found = this.find(accountId, endpointId)
      if (found === null) return null
      const { apiKey, ...endpoint } = found
      this.#table.remove(endpointId)
      changed.push(apiKey)
      return endpoint
    })
  }

  move(from: string, to: string, accountId: string | null): Promise<number> {
    return this.#changes.write(changed => {
      // To open every seal is for those only who remember keys.
      if (this.#changes.isHeard) for (const key of this.#table.keysOn(from, accountId)) changed.push(key)
      return this.#table.move(from, to, accountId)
    })
  }
}
