import { ENDPOINT_LIMIT, OLD_KEYS } from '../../../ports/endpoints.ts'
import type {
  Endpoint,
  EndpointChange,
  EndpointFault,
  EndpointLabel,
  Endpoints,
  EndpointWish,
  EndpointWithKey,
  RotatedKey,
} from '../../../ports/endpoints.ts'
import { LABELS, relabelled } from '../../../ports/labels.ts'
import { changedMembers, OPERATOR } from '../../../ports/audit.ts'
import type { Author, Members } from '../../../ports/audit.ts'
import type { AccountTable } from './account-table.ts'
import type { Change, Changes } from './changes.ts'
import type { EndpointTable } from './endpoint-table.ts'
import { newEndpointId } from './secrets/ids.ts'
import { mintKey } from './secrets/keys.ts'
import { generateName } from './name.ts'

/** What the audit trail shows of an endpoint. */
const AUDITED = [
  'name',
  'status',
  'management',
  'allowedOrigins',
  'allowedIps',
  'perSecond',
  'dailyLimit',
  'expiresAt',
  'labels',
] as const

/** The port Endpoints on accounts.db. */
export class SqliteEndpoints implements Endpoints {
  readonly #table: EndpointTable
  readonly #accounts: AccountTable
  readonly #changes: Changes
  readonly #now: () => number

  /** `now` in Unix seconds, with their fraction. */
  constructor(table: EndpointTable, accounts: AccountTable, changes: Changes, now: () => number) {
    this.#table = table
    this.#accounts = accounts
    this.#changes = changes
    this.#now = now
  }

  create(
    { accountId, network, name = generateName(network), labels = {}, ...restrictions }: EndpointWish,
    by: Author = OPERATOR,
  ): Promise<EndpointWithKey | EndpointFault> {
    return this.#changes.writeOnce<EndpointWithKey | 'limit_reached' | 'no_account'>(change => {
      if (this.#accounts.find(accountId) === null) return 'no_account'
      if (this.#table.count(accountId) >= ENDPOINT_LIMIT) return 'limit_reached'
      const open = {
        management: true,
        allowedOrigins: null,
        allowedIps: null,
        perSecond: null,
        dailyLimit: null,
        limitedSince: 0,
        expiresAt: null,
        lastUsedAt: null,
        labels,
      }
      const fresh = { id: newEndpointId(), status: 'active', createdAt: Math.floor(this.#now()) } as const
      const plain: EndpointWithKey = { ...fresh, ...open, apiKey: mintKey(), accountId, network, name }
      this.#table.insert(plain)
      const endpoint = changed(plain, restrictions, Math.floor(this.#now()))
      const members = changedMembers(plain, endpoint, AUDITED)
      if (members !== null) this.#table.update(endpoint)
      const labelled = Object.keys(labels).length === 0 ? {} : { labels }
      const after = { network, name, ...labelled, ...members?.after }
      note(change, 'created', endpoint, { before: null, after })
      return endpoint
    }, by)
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
    { labels: added = {}, ...wish }: EndpointChange,
    by: Author = OPERATOR,
    permits: (stored: Endpoint) => boolean = () => true,
  ): Promise<EndpointWithKey | null | 'too_many_labels' | 'denied'> {
    return this.#changes.write(change => {
      const before = this.find(accountId, endpointId)
      if (before === null) return null
      if (!permits(before)) return 'denied'
      const labels = relabelled(before.labels, added, LABELS.endpoint.most)
      if (labels === null) return 'too_many_labels'
      const after = { ...changed(before, wish, Math.floor(this.#now())), labels }
      const members = changedMembers(before, after, AUDITED)
      if (members === null) return before
      this.#table.update(after)
      this.#touch(after, change)
      note(change, 'changed', after, members)
      return after
    }, by)
  }

  rotateKey(
    accountId: string | null,
    endpointId: string,
    overlap: number,
    by: Author = OPERATOR,
  ): Promise<RotatedKey | null | 'other_request'> {
    const rotating = this.#changes.writeOnce<RotatedKey | 'none'>(change => {
      const now = this.#now()
      this.#table.forgetOldKeys(now)
      const before = this.find(accountId, endpointId)
      if (before === null) return 'none'
      const oldKeyExpiresAt = oldKeyEnd(before, overlap, now)
      this.#touch(before, change)
      const endpoint = { ...before, apiKey: mintKey() }
      this.#table.setKey(before, endpoint.apiKey, oldKeyExpiresAt, OLD_KEYS)
      const { id: target, accountId: owner } = before
      change.note({
        action: 'key.rotated',
        target,
        accountId: owner,
        before: null,
        after: { oldKeyExpiresAt },
      })
      return { endpoint, oldKeyExpiresAt }
    }, by)
    return rotating.then(rotated => (rotated === 'none' ? null : rotated))
  }

  remove(accountId: string | null, endpointId: string, by: Author = OPERATOR): Promise<Endpoint | null> {
    return this.#changes.write(change => {
      const found = this.find(accountId, endpointId)
      if (found === null) return null
      const endpoint = this.#table.find(endpointId)
      this.#touch(found, change)
      this.#table.remove(endpointId)
      const { network, name } = found
      note(change, 'deleted', found, { before: { network, name }, after: null })
      return endpoint
    }, by)
  }

  move(from: string, to: string, accountId: string | null, by: Author = OPERATOR): Promise<number> {
    return this.#changes.write(change => {
      // To open every seal is for those only who remember keys.
      if (this.#changes.isHeard) for (const key of this.#table.keysOn(from, accountId)) change.touch(key)
      const endpoints = this.#table.move(from, to, accountId)
      const [before, after] = [{ network: from }, { network: to, endpoints }]
      if (endpoints > 0) change.note({ action: 'endpoint.moved', target: from, accountId, before, after })
      return endpoints
    }, by)
  }

  /** All of its keys stand for something else from now on. */
  #touch({ id, apiKey }: EndpointWithKey, change: Change): void {
    for (const key of [apiKey, ...this.#table.oldKeys(id)]) change.touch(key)
  }
}

/** The endpoint as a change makes it, its labels apart. */
function changed(
  before: EndpointWithKey,
  wish: Omit<EndpointChange, 'labels'>,
  now: number,
): EndpointWithKey {
  const closing = (wish.allowedOrigins ?? null) === null ? {} : { management: false }
  return { ...before, ...closing, ...wish, limitedSince: limitedSince(before, wish, now) }
}

/** When the key before a new one ends, in whole seconds and never short of the overlap; null when it has. */
function oldKeyEnd({ expiresAt }: Endpoint, overlap: number, now: number): number | null {
  if (overlap === 0 || (expiresAt !== null && expiresAt <= now)) return null
  return Math.min(Math.ceil(now + overlap), expiresAt ?? Infinity)
}

/** Of each time that a limit is set it is another one, whatever the clock says. */
function limitedSince({ dailyLimit, limitedSince }: Endpoint, wish: EndpointChange, now: number): number {
  const isSet = dailyLimit === null && typeof wish.dailyLimit === 'number'
  return isSet ? Math.max(now, limitedSince + 1) : limitedSince
}

function note(
  change: Change,
  what: 'created' | 'changed' | 'deleted',
  { id, accountId }: Endpoint,
  members: { readonly before: Members | null; readonly after: Members | null },
): void {
  change.note({ action: `endpoint.${what}`, target: id, accountId, ...members })
}
