/** The ports Accounts, Endpoints, Keys, SignIns, Audit and Tokens written as plainly as they can be: in maps, every answer by a promise. */
import { LABELS, relabelled } from '../../src/ports/labels.ts'
import type { AccountRecord, Accounts } from '../../src/ports/accounts.ts'
import type { Action, Audit, AuditEntry, Author } from '../../src/ports/audit.ts'
import { changedMembers, OPERATOR, refuseUnprintable } from '../../src/ports/audit.ts'
import { ENDPOINT_LIMIT, OLD_KEYS } from '../../src/ports/endpoints.ts'
import type { Endpoint, EndpointChange, Endpoints, EndpointWithKey } from '../../src/ports/endpoints.ts'
import type { Keys, SignIns } from '../../src/ports/keys.ts'
import type { Token, Tokens } from '../../src/ports/tokens.ts'
import { mintApiToken, mintKey, mintToken } from '../../src/stores/sqlite/accounts/secrets/keys.ts'

/** One place for all. */
export interface PlainAccounts {
  readonly accounts: Accounts
  readonly endpoints: Endpoints
  readonly keys: Keys
  readonly signIns: SignIns
  readonly audit: Audit
  readonly tokens: Tokens
}

/** Members of an endpoint that may change. */
const CHANGEABLE = [
  ...(['name', 'status', 'management', 'allowedOrigins', 'allowedIps', 'perSecond'] as const),
  ...(['dailyLimit', 'expiresAt', 'labels'] as const),
]

function changed(
  before: EndpointWithKey,
  change: Omit<EndpointChange, 'labels'>,
  now: number,
): EndpointWithKey {
  const closing = (change.allowedOrigins ?? null) === null ? {} : { management: false }
  const isSet = before.dailyLimit === null && typeof change.dailyLimit === 'number'
  const limitedSince = isSet ? Math.max(now, before.limitedSince + 1) : before.limitedSince
  return { ...before, ...closing, ...change, limitedSince }
}

/** An empty one; `now` in Unix seconds. */
export function plainAccounts(now: () => number): PlainAccounts {
  const byId = new Map<string, AccountRecord>()
  const tokens = new Map<string, string>()
  const live = new Map<string, EndpointWithKey>()
  const removed = new Map<string, EndpointWithKey>()
  const old = new Map<string, { readonly id: string; readonly until: number }>()
  let changes = 0
  let serial = 0
  const fresh = (prefix: string): string => `${prefix}_${String((serial += 1))}`
  const own = (accountId: string | null, id: string): EndpointWithKey | null => {
    const found = live.get(id)
    return found === undefined || (accountId !== null && found.accountId !== accountId) ? null : found
  }
  const of = (accountId: string): EndpointWithKey[] =>
    [...live.values()].filter(each => each.accountId === accountId)
  const entries: AuditEntry[] = []
  const done = new Map<string, { readonly request: string; readonly result: unknown }>()
  const note = (
    { actor }: Author,
    action: Action,
    target: string,
    accountId: string | null,
    { before, after }: Pick<AuditEntry, 'before' | 'after'> = { before: null, after: null },
  ): void => {
    refuseUnprintable({ actor, target, ...after }, before, action)
    const seq = (entries[0]?.seq ?? 0) + 1
    entries.unshift({ seq, at: now(), actor, action, target, accountId, before, after })
  }
  const onceOnly = <T>({ once }: Author, work: () => T): T | 'other_request' => {
    const found = once === undefined ? undefined : done.get(once.key)
    if (found !== undefined) return found.request === once?.request ? (found.result as T) : 'other_request'
    const result = work()
    if (once !== undefined && typeof result !== 'string')
      done.set(once.key, { request: once.request, result })
    return result
  }
  const isTaken = (externalId: string | null, by: string | null): boolean =>
    externalId !== null && [...byId.values()].some(each => each.externalId === externalId && each.id !== by)
  const make = (...[wish, by]: [Parameters<Accounts['create']>[0], Author?]) =>
    onceOnly(by ?? OPERATOR, () => {
      const { name, plan, ...given } = wish
      const notes = { externalId: null, email: null, labels: {}, ...given }
      if (isTaken(notes.externalId, null)) return 'external_id_taken'
      const base = { id: fresh('acc'), name, plan, status: 'active', createdAt: now() } as const
      const account: AccountRecord = { ...base, ...notes }
      const dashboardToken = mintToken()
      const after = { name, plan, ...notes }
      note(by ?? OPERATOR, 'account.created', account.id, account.id, { before: null, after })
      byId.set(account.id, account)
      tokens.set(account.id, dashboardToken)
      return { account, dashboardToken }
    })
  const accounts: Accounts = {
    create: (async (...args: Parameters<typeof make>) =>
      Promise.resolve(make(...args))) as Accounts['create'],
    find: async id => Promise.resolve(byId.get(id) ?? null),
    list: async () => Promise.resolve([...byId.values()]),
    page: async ({ after, limit, plan, status, externalId, email, label }) => {
      const all = [...byId.values()]
      const found = all
        .slice(after === null ? 0 : all.findIndex(({ id }) => id === after) + 1)
        .filter(
          each =>
            (plan === null || each.plan === plan) &&
            (status === null || each.status === status) &&
            (externalId === null || each.externalId === externalId) &&
            (email === null || each.email === email) &&
            (label === null || each.labels[label[0]] === label[1]),
        )
      return Promise.resolve(found.slice(0, limit))
    },
    named: async name =>
      Promise.resolve([...byId.values()].filter(each => each.name === name).map(({ id }) => id)),
    change: async (id, change, by = OPERATOR) => {
      const before = byId.get(id)
      if (before === undefined) return Promise.resolve(null)
      const labels = relabelled(before.labels, change.labels ?? {}, LABELS.account.most)
      if (labels === null) return 'too_many_labels'
      const after = { ...before, ...change, labels }
      if (isTaken(after.externalId, id)) return 'external_id_taken'
      const changed = changedMembers(before, after, ['name', 'plan', 'externalId', 'email', 'labels'])
      if (changed !== null) note(by, 'account.changed', id, id, changed)
      if (after.status !== before.status)
        note(by, after.status === 'suspended' ? 'account.suspended' : 'account.resumed', id, id)
      byId.set(id, after)
      changes += 1
      return after
    },
    rotateToken: async (id, by = OPERATOR) => {
      if (!byId.has(id)) return Promise.resolve(null)
      const token = mintToken()
      tokens.set(id, token)
      note(by, 'account.token_rotated', id, id)
      return token
    },
    purge: async (id, by = OPERATOR) => {
      if (!byId.delete(id)) return Promise.resolve(false)
      tokens.delete(id)
      for (const each of of(id)) {
        live.delete(each.id)
        removed.set(each.id, each)
      }
      for (const each of removed.values())
        if (each.accountId === id) removed.set(each.id, { ...each, name: each.id })
      for (const [i, entry] of entries.entries())
        if (entry.accountId === id) entries[i] = { ...entry, before: null, after: null }
      note(by, 'account.purged', id, id)
      changes += 1
      return true
    },
  }
  const endpoints: Endpoints = {
    create: async (
      { accountId, network, name = `${network}-endpoint-abc`, labels = {}, ...restrictions },
      by = OPERATOR,
    ) =>
      Promise.resolve(
        onceOnly(by, () => {
          if (!byId.has(accountId)) return 'no_account'
          if (of(accountId).length >= ENDPOINT_LIMIT) return 'limit_reached'
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
          const base = { accountId, network, name, status: 'active', createdAt: now() } as const
          const plain: EndpointWithKey = { id: fresh('ep'), ...base, ...open, apiKey: mintKey() }
          const endpoint = changed(plain, restrictions, now())
          const more = changedMembers(plain, endpoint, CHANGEABLE)?.after
          const after = { network, name, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...more }
          note(by, 'endpoint.created', endpoint.id, accountId, { before: null, after })
          live.set(endpoint.id, endpoint)
          return endpoint
        }),
      ),
    find: async (accountId, id) => Promise.resolve(own(accountId, id)),
    list: async accountId => Promise.resolve(of(accountId)),
    count: async accountId => Promise.resolve(of(accountId).length),
    label: async id => {
      const found = live.get(id) ?? removed.get(id)
      if (found === undefined) return Promise.resolve(null)
      const { accountId, network, name } = found
      return { accountId, network, name, deleted: removed.has(id) }
    },
    change: async (accountId, id, { labels: added = {}, ...change }, by = OPERATOR, permits = () => true) => {
      const before = own(accountId, id)
      if (before === null) return Promise.resolve(null)
      if (!permits(before)) return 'denied'
      const labels = relabelled(before.labels, added, LABELS.endpoint.most)
      if (labels === null) return 'too_many_labels'
      const after = { ...changed(before, change, now()), labels }
      const members = changedMembers(before, after, CHANGEABLE)
      if (members !== null) note(by, 'endpoint.changed', id, before.accountId, members)
      live.set(id, after)
      changes += 1
      return after
    },
    rotateKey: async (accountId, id, overlap, by = OPERATOR) => {
      const rotated = onceOnly(by, () => {
        const before = own(accountId, id)
        if (before === null) return 'none'
        const end = Math.min(now() + overlap, before.expiresAt ?? Infinity)
        const oldKeyExpiresAt = overlap > 0 && end > now() ? end : null
        if (oldKeyExpiresAt !== null) old.set(before.apiKey, { id, until: oldKeyExpiresAt })
        const ofIt = [...old].filter(([, each]) => each.id === id).sort(([, a], [, b]) => b.until - a.until)
        for (const [key] of ofIt.slice(OLD_KEYS)) old.delete(key)
        const endpoint = { ...before, apiKey: mintKey() }
        live.set(id, endpoint)
        note(by, 'key.rotated', id, before.accountId, { before: null, after: { oldKeyExpiresAt } })
        changes += 1
        return { endpoint, oldKeyExpiresAt }
      })
      return Promise.resolve(rotated === 'none' ? null : rotated)
    },
    remove: async (accountId, id, by = OPERATOR) => {
      const found = own(accountId, id)
      if (found === null) return Promise.resolve(null)
      live.delete(id)
      removed.set(id, found)
      const { network, name } = found
      note(by, 'endpoint.deleted', id, found.accountId, { before: { network, name }, after: null })
      changes += 1
      return withoutKey(found)
    },
    move: async (from, to, accountId, by = OPERATOR) => {
      const moving = [...live.values()].filter(
        each => each.network === from && (accountId === null || each.accountId === accountId),
      )
      for (const each of moving) live.set(each.id, { ...each, network: to })
      const after = { network: to, endpoints: moving.length }
      if (moving.length > 0) note(by, 'endpoint.moved', from, accountId, { before: { network: from }, after })
      changes += 1
      return Promise.resolve(moving.length)
    },
  }
  const audit: Audit = {
    record: async ({ action, target, accountId, ...both }, actor) => {
      note({ actor }, action, target, accountId, both)
      return Promise.resolve()
    },
    read: async ({ from, to, actor, target, before, limit }) => {
      const found = entries.filter(
        each =>
          (from === null || each.at >= from) &&
          (to === null || each.at < to) &&
          (actor === null || each.actor === actor) &&
          (target === null || each.target === target || each.accountId === target) &&
          (before === null || each.seq < before),
      )
      const page = found.slice(0, limit)
      return Promise.resolve({ entries: page, next: found.length > limit ? page.at(-1)!.seq : null })
    },
    forget: async before => {
      entries.splice(0, entries.length, ...entries.filter(({ at }) => at >= before))
      return Promise.resolve()
    },
  }
  const bySecret = new Map<string, Token>()
  const isValid = ({ expiresAt }: Token): boolean => expiresAt === null || expiresAt > now()
  const apiTokens: Tokens = {
    create: async (wish, by = OPERATOR) => {
      const token = { id: fresh('tok'), ...wish, createdAt: now() }
      const secret = mintApiToken()
      note(by, 'token.created', token.id, null, { before: null, after: { ...wish } })
      bySecret.set(secret, token)
      return Promise.resolve({ token, secret })
    },
    list: async () => Promise.resolve([...bySecret.values()].filter(isValid)),
    find: async secret => {
      const found = bySecret.get(secret)
      return Promise.resolve(found !== undefined && isValid(found) ? found : null)
    },
    revoke: async (id, by = OPERATOR) => {
      const found = [...bySecret].find(([, token]) => token.id === id)
      if (found === undefined) return Promise.resolve(false)
      const [secret, { name, scopes }] = found
      bySecret.delete(secret)
      note(by, 'token.revoked', id, null, { before: { name, scopes }, after: null })
      return true
    },
  }
  const keys: Keys = {
    find: key => {
      const rotated = old.get(key)
      const found = live.get(rotated?.id ?? '') ?? [...live.values()].find(({ apiKey }) => apiKey === key)
      if (found === undefined) return null
      const ends = [rotated?.until ?? null, found.expiresAt].filter(end => end !== null)
      const until = ends.length === 0 ? null : Math.min(...ends)
      if (until !== null && until <= now()) return null
      const { id, name, plan, status, createdAt } = byId.get(found.accountId)!
      const isOld = rotated !== undefined
      const endpoint = isOld ? { ...withoutKey(found), management: false } : withoutKey(found)
      return { account: { id, name, plan, status, createdAt }, endpoint, until, isOld }
    },
    get changes() {
      return changes
    },
  }
  const signIns: SignIns = {
    open: secret => {
      const owner = keys.find(secret)
      const endpoint = owner?.isOld === false ? owner.endpoint : null
      const accountId = endpoint?.accountId ?? [...tokens].find(([, token]) => token === secret)?.[0]
      if (accountId === undefined) return null
      return { accountId, tokenHash: tokens.get(accountId)!, endpointId: endpoint?.id ?? null }
    },
    owner: ({ accountId, tokenHash, endpointId }) => {
      if (tokens.get(accountId) !== tokenHash) return null
      const account = byId.get(accountId)!
      if (endpointId === null) return { account, endpoint: null }
      const found = own(accountId, endpointId)
      if (found === null || (found.expiresAt !== null && found.expiresAt <= now())) return null
      return { account, endpoint: withoutKey(found) }
    },
  }
  return { accounts, endpoints, keys, signIns, audit, tokens: apiTokens }
}

/** What others than its owner see of an endpoint. */
export function withoutKey(endpoint: EndpointWithKey): Endpoint {
  const { apiKey, lastUsedAt, labels, ...rest } = endpoint
  if (apiKey === '' || lastUsedAt === 0 || Object.hasOwn(labels, '')) throw new Error('an endpoint has a key')
  return rest
}
