/** Events that webhooks are told (operations, section 9), kept until they are delivered. Times are Unix seconds. */
import type { AlertEvent } from '../config/alerts.ts'
import type { Author } from './audit.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** The operator's webhook, among those of accounts, which are named by their ids. */
export const OPERATORS = 'operator'

/** Events that are stored as entries of the audit trail, in the transaction of the change that caused them. */
export const TRAIL_EVENTS: readonly AlertEvent[] = ['account.suspended', 'key.rotated']

/** What happened. */
export interface Alert {
  readonly type: AlertEvent
  /** Whose webhook is told too; null where it is nobody's. */
  readonly accountId: string | null
  readonly data: Readonly<Record<string, unknown>>
  /** Who made it happen, as the audit trail names them; absent where nobody did. */
  readonly actor?: string
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

/**
 * Whose turn a webhook takes: the operator's is alone in its lane, those of accounts that answered badly the last time (not at all, late, or with
 * something else than 2xx) are apart from the others.
 */
export type Lane = 'operator' | 'accounts' | 'suspects'

/** What came of an attempt. */
export interface Outcome {
  /** Of the message. */
  readonly id: string
  readonly target: string
  readonly isTaken: boolean
  /** Whether the answer took so long that others would have to wait for it. */
  readonly isSlow: boolean
  /** When it is tried again; null where it was taken or is given up. */
  readonly nextAt: number | null
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
   * Keeps an event for each webhook that is to be told: the account's, and the operator's where `toOperator`. With `once` only for those for which it was
   * not kept under that name before. Returns the webhooks for which too much waits already: they are not told, and may be told later under that name.
   */
  raise(alert: Alert, toOperator: boolean, once?: string): Promise<readonly string[]>
  /** Keeps the events of these kinds that the audit trail has had since this was last called; returns a webhook for each message that had no room. */
  readTrail(toOperator: readonly AlertEvent[]): Promise<readonly string[]>
  /** The webhooks of a lane for which something is due, the one whose turn came least recently first. `now` in Unix milliseconds. */
  receivers(lane: Lane, now: number, most: number): MaybePromise<readonly string[]>
  /** What is due for one, the urgent first. */
  due(target: string, now: number, most: number): MaybePromise<readonly Delivery[]>
  /** Writes down what came of attempts. `now` in Unix milliseconds. */
  settle(outcomes: readonly Outcome[], now: number): Promise<void>
  /** How many messages wait. */
  waiting(): { readonly operator: number; readonly accounts: number }
  /** An account's webhook; null where it has none. */
  webhook(accountId: string): MaybePromise<Webhook | null>
  /** Gives an account a webhook, with a new secret; null takes it away, with what it was to be told. */
  setWebhook(accountId: string, url: string | null, by?: Author): Promise<Webhook | null>
}
