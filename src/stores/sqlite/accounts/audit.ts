import { setImmediate as nextTurn } from 'node:timers/promises'
import type { DatabaseSync } from '../driver.ts'
import { TRAIL_EVENTS } from '../../../ports/alerts.ts'
import type {
  Action,
  Actor,
  Audit,
  AuditEntry,
  AuditPage,
  AuditQuery,
  Happening,
  Members,
} from '../../../ports/audit.ts'
import { MANY, OWNER_ENTRIES, refuseUnprintable } from '../../../ports/audit.ts'
import { brief } from './audit-brief.ts'
import type { Transactions } from './transactions.ts'

/** Entries that are looked at, and removed, in one turn. */
const AT_ONCE = 500
/** Bytes of members that a page has, but for those of its last entry. */
const PAGE_BYTES = 256 * 1024
/** Seconds in which the entries of owners are counted, and for which one entry counts what is beyond. */
const DAY = 86_400
const HOUR = 3_600
/** Ids that such an entry names of each kind. */
const MOST_IDS = 100

/** What is looked at to find an entry: its long columns are read once it is wanted. */
interface Head {
  readonly seq: number
  readonly at: number
  readonly actor: string
}

interface Row extends Head {
  readonly action: string
  readonly target: string
  readonly account_id: string | null
  readonly before: string | null
  readonly after: string | null
}

/** The statements on table `audit`. Writes belong in a transaction; the holder keeps the database referenced. */
export class AuditTable {
  readonly #sql

  constructor(database: DatabaseSync) {
    this.#sql = {
      insert: database.prepare(`
        INSERT INTO audit (at, actor, action, target, account_id, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)`),
      // Each by one index, in its order.
      heads: database.prepare(head('seq < ?')),
      byActor: database.prepare(head('seq < ? AND actor = ?')),
      // An account is found by its own entries and by those of what it has.
      byTarget: database.prepare(`
        SELECT * FROM (${head('seq < ?1 AND target = ?2')}) UNION SELECT * FROM (${head('seq < ?1 AND account_id = ?2')})
        ORDER BY seq DESC LIMIT ${AT_ONCE}`),
      find: database.prepare(
        'SELECT seq, at, actor, action, target, account_id, before, after FROM audit WHERE seq = ?',
      ),
      // An entry that is an event stays until it has been read (table `trail`).
      forget: database.prepare(
        `DELETE FROM audit WHERE seq IN (
          SELECT seq FROM audit WHERE at < ?
            AND (seq <= (SELECT seq FROM trail) OR action NOT IN (${TRAIL_EVENTS.map(each => `'${each}'`).join()}))
          LIMIT ${AT_ONCE})`,
      ),
      nth: database.prepare(`
        SELECT at FROM audit WHERE account_id = ? ORDER BY seq DESC LIMIT 1 OFFSET ${OWNER_ENTRIES - 1}`),
      // It is among the newest of the account, as owners write nothing else then.
      counting: database.prepare(`
        SELECT seq, after FROM (SELECT * FROM audit WHERE account_id = ? ORDER BY seq DESC LIMIT 50)
        WHERE actor = '${MANY}' AND action = ? AND at >= ?`),
      count: database.prepare('UPDATE audit SET after = ? WHERE seq = ?'),
      blank: database.prepare('UPDATE audit SET before = NULL, after = NULL WHERE account_id = ?'),
    }
  }

  insert(at: number, actor: Actor, happening: Happening): void {
    const { action, target, accountId } = happening
    refuseUnprintable({ actor, target, ...happening.after }, happening.before, action)
    if (accountId !== null && actor.startsWith('owner:') && this.#isBusy(accountId, at)) {
      this.#count(at, actor, { ...happening, accountId })
      return
    }
    const [before, after] = brief(happening.before, happening.after)
    this.#sql.insert.run(at, actor, action, target, accountId, toJson(before), toJson(after))
  }

  /** The next entries before one that may be wanted: of the target, else of the actor, else any. */
  heads(before: number, { actor, target }: Pick<AuditQuery, 'actor' | 'target'>): readonly Head[] {
    const { byTarget, byActor, heads } = this.#sql
    if (target !== null) return byTarget.all(before, target) as Head[]
    return (actor === null ? heads.all(before) : byActor.all(before, actor)) as Head[]
  }

  /** One entry and the bytes of its members; null when it has been removed. */
  find(seq: number): { readonly entry: AuditEntry; readonly bytes: number } | null {
    const row = this.#sql.find.get(seq) as Row | undefined
    if (row === undefined) return null
    return { entry: toEntry(row), bytes: (row.before?.length ?? 0) + (row.after?.length ?? 0) }
  }

  /** Removes some of what is older than this time; whether that was all. */
  forget(before: number): boolean {
    return this.#sql.forget.run(before).changes < AT_ONCE
  }

  /** Leaves of an account's entries that they happened, and nothing of what was in them. */
  blank(accountId: string): void {
    this.#sql.blank.run(accountId)
  }

  #isBusy(accountId: string, at: number): boolean {
    const nth = this.#sql.nth.get(accountId) as { at: number } | undefined
    return nth !== undefined && nth.at > at - DAY
  }

  /** Adds a change to the entry that counts those of its kind: by whom, of what, which members, and until when. */
  #count(at: number, actor: Actor, happening: Happening & { readonly accountId: string }): void {
    const { action, target, accountId, before, after } = happening
    const found = this.#sql.counting.get(accountId, action, at - HOUR) as
      { seq: number; after: string } | undefined
    const counted = fromJson(found?.after ?? null) as Counted | null
    const members = Object.keys({ ...before, ...after })
    const next = toJson({
      changes: (counted?.changes ?? 0) + 1,
      until: at,
      by: withMore(counted?.by, [actor]),
      of: withMore(counted?.of, [target]),
      members: withMore(counted?.members, members),
    } satisfies Counted)
    if (found === undefined) this.#sql.insert.run(at, MANY, action, accountId, accountId, null, next)
    else this.#sql.count.run(next, found.seq)
  }
}

/** What an entry says that counts changes. */
type Counted = Readonly<{
  changes: number
  until: number
  by: readonly string[]
  of: readonly string[]
  members: readonly string[]
}>

function withMore(known: readonly string[] = [], more: readonly string[]): readonly string[] {
  return [...new Set([...known, ...more])].slice(0, MOST_IDS)
}

function head(where: string): string {
  return `SELECT seq, at, actor FROM audit WHERE ${where} ORDER BY seq DESC LIMIT ${AT_ONCE}`
}

/** The port Audit on accounts.db. */
export class SqliteAudit implements Audit {
  readonly #table: AuditTable
  readonly #transactions: Transactions
  readonly #now: () => number

  constructor(table: AuditTable, transactions: Transactions, now: () => number) {
    this.#table = table
    this.#transactions = transactions
    this.#now = now
  }

  record(happening: Happening, actor: Actor): Promise<void> {
    return this.#transactions.run(() => {
      this.#table.insert(this.#now(), actor, happening)
    })
  }

  async read({ from, to, actor, target, before, limit }: AuditQuery): Promise<AuditPage> {
    const entries: AuditEntry[] = []
    let [bytes, last] = [0, before ?? Number.MAX_SAFE_INTEGER]
    for (;;) {
      const heads = this.#table.heads(last, { actor, target })
      for (const { seq, at, actor: by } of heads) {
        last = seq
        if (at < (from ?? at) || (to !== null && at >= to) || by !== (actor ?? by)) continue
        if (entries.length === limit || bytes >= PAGE_BYTES) return { entries, next: entries.at(-1)!.seq }
        const found = this.#table.find(seq)
        if (found === null) continue
        entries.push(found.entry)
        bytes += found.bytes
      }
      if (heads.length < AT_ONCE) return { entries, next: null }
      // Calls have their turn.
      await nextTurn()
    }
  }

  async forget(before: number): Promise<void> {
    const some = (): Promise<boolean> => this.#transactions.run(() => this.#table.forget(before))
    while (!(await some()));
  }
}

function toEntry(row: Row): AuditEntry {
  const { seq, at, actor, target, account_id: accountId } = row
  const [before, after] = [fromJson(row.before), fromJson(row.after)]
  return { seq, at, actor, action: row.action as Action, target, accountId, before, after }
}

function toJson(members: Members | null): string | null {
  return members === null ? null : JSON.stringify(members)
}

function fromJson(text: string | null): Members | null {
  return text === null ? null : (JSON.parse(text) as Members)
}
