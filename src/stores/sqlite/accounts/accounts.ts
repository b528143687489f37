import type {
  Account,
  AccountChange,
  AccountFault,
  AccountQuery,
  AccountRecord,
  Accounts,
  AccountWish,
  ChangeFault,
  NewAccount,
} from '../../../ports/accounts.ts'
import { LABELS, relabelled } from '../../../ports/labels.ts'
import { changedMembers, OPERATOR } from '../../../ports/audit.ts'
import type { Action, Author } from '../../../ports/audit.ts'
import type { AccountTable } from './account-table.ts'
import type { AuditTable } from './audit.ts'
import type { Change, Changes } from './changes.ts'
import type { EndpointTable } from './endpoint-table.ts'
import { hashKey } from './secrets/hash.ts'
import { newAccountId } from './secrets/ids.ts'
import { mintToken } from './secrets/keys.ts'

/** What the audit trail shows of an account, its status apart. */
const AUDITED = ['name', 'plan', 'externalId', 'email', 'labels'] as const

/** What accounts are kept in. */
export interface AccountsParts {
  readonly table: AccountTable
  readonly endpoints: EndpointTable
  readonly audit: AuditTable
  readonly changes: Changes
  /** Unix seconds. */
  readonly now: () => number
}

/** The port Accounts on accounts.db. */
export class SqliteAccounts implements Accounts {
  readonly #parts: AccountsParts

  constructor(parts: AccountsParts) {
    this.#parts = parts
  }

  create(wish: Pick<Account, 'name' | 'plan'>): Promise<NewAccount>
  create(wish: AccountWish, by?: Author): Promise<NewAccount | AccountFault>
  create(
    { name, plan, externalId = null, email = null, labels = {} }: AccountWish,
    by: Author = OPERATOR,
  ): Promise<NewAccount | AccountFault> {
    const { table, changes, now } = this.#parts
    const dashboardToken = mintToken()
    return changes.writeOnce<NewAccount | 'external_id_taken'>(change => {
      if (this.#isTaken(externalId, null)) return 'external_id_taken'
      const notes = { externalId, email, labels }
      const account: AccountRecord = {
        id: newAccountId(),
        name,
        plan,
        status: 'active',
        createdAt: now(),
        ...notes,
      }
      table.insert(account, hashKey(dashboardToken))
      note(change, 'account.created', account.id, { before: null, after: { name, plan, ...notes } })
      return { account, dashboardToken }
    }, by)
  }

  find(id: string): AccountRecord | null {
    return this.#parts.table.find(id)
  }

  list(): AccountRecord[] {
    return this.#parts.table.all()
  }

  page(query: AccountQuery): AccountRecord[] {
    return this.#parts.table.page(query)
  }

  named(name: string): string[] {
    return this.#parts.table.named(name)
  }

  change(
    id: string,
    wish: AccountChange,
    by: Author = OPERATOR,
  ): Promise<AccountRecord | null | ChangeFault> {
    const { table, changes } = this.#parts
    return changes.write(change => {
      const before = table.find(id)
      if (before === null) return null
      const labels = relabelled(before.labels, wish.labels ?? {}, LABELS.account.most)
      if (labels === null) return 'too_many_labels'
      const after = { ...before, ...wish, labels }
      if (this.#isTaken(after.externalId, id)) return 'external_id_taken'
      const changed = changedMembers(before, after, AUDITED)
      if (changed !== null) note(change, 'account.changed', id, changed)
      if (after.status !== before.status)
        note(change, after.status === 'suspended' ? 'account.suspended' : 'account.resumed', id)
      else if (changed === null) return before
      table.update(after)
      this.#touchKeys(id, change)
      return after
    }, by)
  }

  rotateToken(id: string, by: Author = OPERATOR): Promise<string | null> {
    const { table, changes } = this.#parts
    const token = mintToken()
    return changes.write(change => {
      if (table.find(id) === null || !table.setToken(id, hashKey(token))) return null
      note(change, 'account.token_rotated', id)
      return token
    }, by)
  }

  purge(id: string, by: Author = OPERATOR): Promise<boolean> {
    const { table, endpoints, audit, changes, now } = this.#parts
    return changes.write(change => {
      if (table.find(id) === null) return false
      this.#touchKeys(id, change)
      endpoints.purge(id)
      table.purge(id, now())
      audit.blank(id)
      note(change, 'account.purged', id)
      return true
    }, by)
  }

  #touchKeys(id: string, change: Change): void {
    const { endpoints } = this.#parts
    for (const endpoint of endpoints.ofAccount(id))
      for (const key of [endpoint.apiKey, ...endpoints.oldKeys(endpoint.id)]) change.touch(key)
  }

  #isTaken(externalId: string | null, by: string | null): boolean {
    if (externalId === null) return false
    const owner = this.#parts.table.withExternalId(externalId)
    return owner !== null && owner !== by
  }
}

function note(
  change: Change,
  action: Action,
  id: string,
  members: Pick<Parameters<Change['note']>[0], 'before' | 'after'> = { before: null, after: null },
): void {
  change.note({ action, target: id, accountId: id, ...members })
}
