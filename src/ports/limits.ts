/** What callers may still use: their rate and their quota. */
import type { Refusal } from '../refusal/refusal.ts'
import type { Plan } from '../snapshot/types.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** The account that pays. */
export interface Account {
  readonly id: string
  /** The name of its plan. */
  readonly plan: string
  /** Unix seconds. */
  readonly createdAt: number
}

/** A rate: `burst` units at once, refilled evenly at `perSecond`. */
export interface RateLimit {
  readonly perSecond: number
  readonly burst: number
}

/** Who is charged, on which plan. */
export interface Payer {
  readonly account: Account
  readonly endpoint: {
    readonly id: string
    readonly network: string
    /** Units that it may use in a calendar day (UTC), notifications included; null when it has no such limit. */
    readonly dailyLimit: number | null
    /** What it has used without a limit, before this one was set, is in the ledger alone; another number each time. */
    readonly limitedSince: number
  }
  readonly plan: Plan
  /** The endpoint's own rate, below the account's; null when it has none. */
  readonly endpointRate: RateLimit | null
}

/** Who takes from the limits: the owner of a key, or on the public route an address with the route's plan. */
export interface Spender {
  readonly payer: Payer | null
  readonly plan: Plan
  readonly address: string
}

/** What a call costs. */
export interface Price {
  /** Request units (spec, "Limits": requests). */
  readonly units: number
  /** False for what takes quota alone: a notification, or the end of a subscription of the caller's own. */
  readonly isRated: boolean
}

/** What was taken for one call. */
export interface Grant {
  readonly units: number
  /** When it was taken, in milliseconds since the Unix epoch: what is charged belongs to the same day. */
  readonly at: number
  /** Start of the quota period in Unix seconds; 0 without a quota. */
  readonly period: number
  /** Puts everything back: the call was refused after all. */
  giveBack(): void
}

/** What the rate headers of a reply say. */
export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** When all of it is there again, in Unix seconds. */
  readonly reset: number
}

/** An account's quota in the current period. */
export interface QuotaState {
  /** Units granted per period. */
  readonly requests: number
  /** Units charged; those of calls in flight may be in it. */
  readonly used: number
  /** Unix seconds. */
  readonly resetsAt: number
}

/** Holds rates and quotas. Times are milliseconds since the Unix epoch. */
export interface Limits {
  /**
   * Takes what a call costs, or refuses and takes nothing. What costs nothing takes one management call instead of rate: nothing
   * is free of any limit. `monotonic` is the same moment on the monotonic clock, for who has just read it: absent, it is read where it is needed.
   */
  take(spender: Spender, price: Price, now: number, monotonic?: number): MaybePromise<Grant | Refusal>
  /** Takes one management call of an account. */
  takeManagement(account: Account, now: number): MaybePromise<Refusal | null>
  /** The rate left to a caller; null on a plan without one. */
  rate(spender: Spender, now: number): RateState | null
  /** The quota left to an account; null on a plan without one. */
  quota(account: Account, plan: Plan, now: number): MaybePromise<QuotaState | null | 'unreadable'>
}
