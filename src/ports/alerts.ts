/** Events that webhooks are told (operations, section 9), kept until they are delivered. Times are Unix seconds. */
import type { AlertEvent } from '../config/alerts.ts'
import type { Author } from './audit.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** The operator's webhook, among those of accounts, which are named by their ids. */
export const OPERATORS = 'operator'

/** What happened. */
export interface Alert {
  readonly type: AlertEvent
  /** Whose webhook is told too; null where it is nobody's. */
  readonly accountId: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** One message to one webhook. */
export interface Delivery {
  /** The same at each attempt. */
  readonly id: string
  /** `OPERATORS`, or an account. */
  readonly target: string
  readonly type: AlertEvent
  readonly body: string
  /** Attempts that have failed. */
  readonly attempts: number
}

/** An account's webhook. */
export interface Webhook {
  readonly url: string
  /** `whsec_…`: what signs its messages. */
  readonly secret: string
}

/** Characters of a path that are shown; a longer first part of it may be a token. */
const SHOWN = 16

/** A webhook's URL without what may be a token: `https://hooks.example.com/services/…`. */
export function shownWebhook(url: string): string {
  const { origin, pathname, search } = new URL(url)
  const [, first = '', ...more] = pathname.split('/')
  if (first === '' && more.length === 0 && search === '') return `${origin}/`
  const isShown = first !== '' && first.length <= SHOWN && more.length > 0
  return isShown ? `${origin}/${first}/…` : `${origin}/…`
}

/** Keeps events and webhooks. What is written here survives a crash. */
export interface Alerts {
  /**
   * Keeps an event for each webhook that is to be told: the account's, and the operator's where `toOperator`. With `once` only if it was not raised under
   * that name before; returns whether it was kept.
   */
  raise(alert: Alert, toOperator: boolean, once?: string): Promise<boolean>
  /** Keeps the events of these kinds that the audit trail has had since this was last called. */
  readTrail(toOperator: readonly AlertEvent[]): Promise<void>
  /** Of each webhook the oldest that is due. */
  due(now: number, most: number): MaybePromise<readonly Delivery[]>
  delivered(id: string): Promise<void>
  /** To be tried again at a time. */
  failed(id: string, nextAt: number): Promise<void>
  /** An account's webhook; null where it has none. */
  webhook(accountId: string): MaybePromise<Webhook | null>
  /** Gives an account a webhook, with a new secret; null takes it away, with what it was to be told. */
  setWebhook(accountId: string, url: string | null, by?: Author): Promise<Webhook | null>
}
