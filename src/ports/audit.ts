/** The audit trail: who changed what, and when (operations, section 3). All times are Unix seconds. */
import { isPrintable } from '../config/words/printable.ts'
import type { MaybePromise } from './maybe-promise.ts'

/**
 * Who makes a change: the operator on this machine (`cli`), the gateway itself, a token of the admin API, or an owner, by the dashboard or by the key
 * of an endpoint.
 */
export type Actor = 'cli' | 'gateway' | 'owner:dashboard' | `owner:${string}` | `token:${string}`

/** A request that is carried out once, however often it is sent (`Idempotency-Key`). */
export interface Once {
  /** Unique to the token and the request that its client means. */
  readonly key: string
  /** What was asked for: the same key with another request is refused. */
  readonly request: string
}

/** Seconds for which such a request is remembered. */
export const ONCE_KEPT = 86_400

/** By whom a change is made. */
export interface Author {
  readonly actor: Actor
  readonly once?: Once
}

/** Who made a change, as an owner sees it: which of their tokens the operator used is not for an owner. */
export function actorForOwner(actor: string): string {
  return actor.startsWith('owner:') || actor === 'gateway' ? actor : 'operator'
}

/** Whoever works on the store by the command line. */
export const OPERATOR: Author = { actor: 'cli' }

/** What may happen. */
export type Action =
  | 'account.created'
  | 'account.changed'
  | 'account.suspended'
  | 'account.resumed'
  | 'account.token_rotated'
  | 'account.purged'
  | 'endpoint.created'
  | 'endpoint.changed'
  | 'endpoint.deleted'
  | 'endpoint.moved'
  | 'key.rotated'
  | 'webhook.changed'
  | 'token.created'
  | 'token.revoked'
  | 'master_key.rotating'
  | 'master_key.rotated'
  | 'config.reloaded'
  | 'config.rejected'

/** Members of something, as JSON: only those that have changed. */
export type Members = Readonly<Record<string, unknown>>

/** What happened, without when and by whom. Holds no secret. */
export interface Happening {
  readonly action: Action
  /** The id of what was changed: of an account, an endpoint or a token, a network, the version of a configuration, or the id of a master key. */
  readonly target: string
  /** Whose it is; null when it is nobody's. */
  readonly accountId: string | null
  readonly before: Members | null
  readonly after: Members | null
}

/** One entry. */
export interface AuditEntry extends Happening {
  /** Counts up. */
  readonly seq: number
  readonly at: number
  readonly actor: string
}

/** Which entries to read: `from` is inclusive, `to` exclusive; null is any. */
export interface AuditQuery {
  readonly from: number | null
  readonly to: number | null
  readonly actor: string | null
  /** An account finds what happened to its endpoints, too. */
  readonly target: string | null
  /** Only entries before this one. */
  readonly before: number | null
  readonly limit: number
}

/** Some entries, newest first. */
export interface AuditPage {
  readonly entries: readonly AuditEntry[]
  /** The `before` of the next page; null when there is none. */
  readonly next: number | null
}

/** Entries that the owners of one account write in full within 24 hours. What they change beyond is counted: an entry for each kind of change and hour. */
export const OWNER_ENTRIES = 500

/** Who stands in such an entry. */
export const MANY = 'owner:many'

/** Keeps the trail. Changes of accounts, endpoints and tokens write theirs in the same transaction. */
export interface Audit {
  /** Writes an entry for what is changed elsewhere. */
  record(happening: Happening, actor: Actor): Promise<void>
  /** Newest first: as many as were asked for, or fewer where they are long. */
  read(query: AuditQuery): MaybePromise<AuditPage>
  /** Removes what is older than this time. */
  forget(before: number): Promise<void>
}

/**
 * Throws where a change would store text that may not be stored (config/words/printable.ts). Every way in checks its text and refuses it with a
 * reason; this is for one that does not. Text that was there before may stay.
 */
export function refuseUnprintable(after: unknown, before: unknown, name: string): void {
  if (after === before) return
  if (typeof after === 'string' && !isPrintable(after, Infinity))
    throw new Error(`${name} is text that cannot be stored`)
  if (typeof after !== 'object' || after === null) return
  const known = (before ?? {}) as Readonly<Record<string, unknown>>
  for (const [member, value] of Object.entries(after)) {
    refuseUnprintable(member, undefined, `a name in ${name}`)
    refuseUnprintable(value, known[member], `${name}.${member}`)
  }
}

/** The members that differ, before and after; null when none does. */
export function changedMembers<T>(
  before: T,
  after: T,
  names: readonly (keyof T & string)[],
): { readonly before: Members; readonly after: Members } | null {
  const changed = names.filter(name => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
  const of = (all: T): Members => Object.fromEntries(changed.map(name => [name, all[name]]))
  return changed.length === 0 ? null : { before: of(before), after: of(after) }
}
