import type { AccountTable } from './account-table.ts'
import type { EndpointTable } from './endpoint-table.ts'

/** What of a configuration accounts and their endpoints use. The holder keeps the database referenced. */
export class AccountsInUse {
  readonly #accounts: AccountTable
  readonly #endpoints: EndpointTable

  constructor(accounts: AccountTable, endpoints: EndpointTable) {
    this.#accounts = accounts
    this.#endpoints = endpoints
  }

  /** Names of the plans that some account has. */
  plans(): string[] {
    return this.#accounts.plans()
  }

  /** How many accounts have a plan, and the first three of them. */
  accountsWith(plan: string): { readonly count: number; readonly first: string[] } {
    return this.#accounts.withPlan(plan, 3)
  }

  /** Slugs of the networks that some endpoint is on. */
  networks(): string[] {
    return this.#endpoints.networks()
  }

  /** Endpoints on a network, deleted ones apart. */
  endpointsOn(network: string): number {
    return this.#endpoints.countOn(network)
  }
}
