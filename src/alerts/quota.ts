/** Notices when accounts come to parts of their quota: from what the ledger adds to their windows, so that no call pays for it. */
import { BoundedCache } from '../limits/bounded-cache.ts'
import { windowAt } from '../limits/window.ts'
import type { Alert } from '../ports/alerts.ts'
import type { AccountRecord } from '../ports/accounts.ts'
import type { Snapshot } from '../snapshot/types.ts'

/** What an account has used of the window that begins at `start` (Unix seconds). */
export interface Spent {
  readonly account: string
  readonly start: number
  readonly requests: number
}

/** From which part on a quota counts as nearly spent. */
const NEARLY = 0.9
/** Milliseconds after which an event is tried again that could not be written, and one for which a webhook had no room. */
const RETRY = 10_000
const RETRY_FULL = 300_000
/** Accounts of which it is known when to look next. */
const REMEMBERED = 100_000

/** What it is made of. */
export interface QuotaAlertsParts {
  readonly find: (accountId: string) => AccountRecord | null
  readonly snapshot: () => Snapshot
  /** Grows when accounts or plans have changed. */
  readonly epoch: () => number
  /** Keeps an event, once for each name; false where a webhook has no room for it. Rejects while nothing can be written. */
  readonly raise: (alert: Alert, once: string) => Promise<boolean>
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
}

/** The next number of requests of a window at which something is to be said. */
interface Next {
  readonly start: number
  readonly at: number
}

/** Raises `quota.threshold`. */
export class QuotaAlerts {
  readonly #parts: QuotaAlertsParts
  readonly #next = new BoundedCache<Next>(REMEMBERED)
  /** Accounts that have nearly spent their quota, and when that ends (Unix seconds). */
  readonly #nearly = new Map<string, number>()
  #epoch = -1

  constructor(parts: QuotaAlertsParts) {
    this.#parts = parts
  }

  /** Hears what accounts have used. */
  spent(all: readonly Spent[]): void {
    const epoch = this.#parts.epoch()
    // Another plan has another quota.
    if (epoch !== this.#epoch) this.#next.clear()
    this.#epoch = epoch
    for (const one of all) {
      const next = this.#next.get(one.account)
      if (next?.start !== one.start || one.requests >= next.at) this.#look(one)
    }
  }

  /** How many accounts have used nine tenths of their quota, or more. */
  get nearlySpent(): number {
    const now = this.#parts.now() / 1000
    for (const [account, end] of this.#nearly) if (end <= now) this.#nearly.delete(account)
    return this.#nearly.size
  }

  #look({ account: id, start, requests }: Spent): void {
    const { find, snapshot, now } = this.#parts
    const { plans, gateway } = snapshot()
    const account = find(id)
    const plan = account === null ? undefined : plans[account.plan]
    const quota = plan?.quota ?? null
    const window = account === null || quota === null ? null : windowAt(quota.every, account.createdAt, now())
    if (account === null || plan === undefined || quota === null || window?.start !== start) {
      this.#nearly.delete(id)
      this.#next.set(id, { start, at: Infinity })
      return
    }
    const units = (part: number): number => Math.max(1, Math.ceil(part * quota.requests))
    if (requests >= units(NEARLY)) this.#nearly.set(id, window.end)
    else this.#nearly.delete(id)
    const parts = plan.alerts?.quota ?? gateway.alerts.quota
    const marks = [...parts, NEARLY].map(units).filter(mark => mark > requests)
    this.#next.set(id, { start, at: Math.min(Infinity, ...marks) })
    for (const part of parts.filter(each => requests >= units(each))) {
      const threshold = `${Math.round(part * 10_000) / 100}%`
      const data = {
        accountId: id,
        name: account.name,
        plan: plan.name,
        threshold,
        used: requests,
        requests: quota.requests,
        windowStart: isoTime(start),
        resetsAt: isoTime(window.end),
      }
      const raising = this.#parts.raise(
        { type: 'quota.threshold', accountId: id, data },
        `quota ${id} ${start} ${threshold}`,
      )
      // An account whose quota is spent uses no more of it, which would have been another chance.
      const again = (wait: number): void => {
        setTimeout(() => {
          this.#next.delete(id)
          this.spent([{ account: id, start, requests }])
        }, wait).unref()
      }
      raising.then(
        isKept => {
          if (!isKept) again(RETRY_FULL)
        },
        () => {
          this.#next.delete(id)
          again(RETRY)
        },
      )
    }
  }
}

function isoTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString()
}
