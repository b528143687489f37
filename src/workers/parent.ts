/** The way of a keeper or a worker to the primary that has started it. */
import type { Socket } from 'node:net'

/** What a child tells the primary. */
export type Report =
  /** It serves. */
  | { readonly t: 'ready' }
  /** The operator wants all processes replaced; the primary as well, or only the others. */
  | { readonly t: 'restart'; readonly primary: boolean }
  /** The workers of the next primary serve. */
  | { readonly t: 'workers' }

/**
 * How a process leaves: with all others, so that connections which still come are its own to take; alone, so that the others take them; or because
 * the primary has gone, which leaves the address to the next gateway as soon as calls in flight are answered.
 */
export type Leaving = 'with all' | 'alone' | 'orphaned'

/** What the primary tells a child. */
export type Order =
  /** Finish what is in flight and go; `spread` milliseconds to close WebSockets over. */
  | { readonly t: 'drain'; readonly leaving: Leaving; readonly spread?: number }
  /** Read the configuration again. */
  | { readonly t: 'reload' }
  /** Open log files again, which were renamed. */
  | { readonly t: 'reopenLogs' }
  /** Workers that are still to be replaced; null when none is. */
  | { readonly t: 'restarting'; readonly left: readonly number[] | null }
  /** A connection, which comes with it. */
  | { readonly t: 'connection' }
  /** To the next primary: its keeper may start, as there is no other. */
  | { readonly t: 'keep' }

/** Who hears of the primary's orders. */
export interface Orders {
  drain(leaving: Leaving, spread?: number): void
  reload?(): void
  reopenLogs?(): void
  restarting?(left: readonly number[] | null): void
  connection?(socket: Socket): void
}

/** Tells the primary something; one that is gone hears nothing. */
export function report(said: Report): void {
  if (process.connected) process.send?.(said, undefined, undefined, () => undefined)
}

/** Resolves when the process that started this one is gone, or has let go of it. */
export function parentGone(): Promise<void> {
  return new Promise(resolve => {
    if (process.connected) process.once('disconnect', resolve)
    else resolve()
  })
}

/** Hears what the primary wants. Signals are the primary's to hear: a terminal and systemd send them to all processes at once. */
export function hearOrders(orders: Orders): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'] as const)
    process.on(signal, () => undefined)
  process.on('message', (order: Order, socket?: Socket) => {
    if (order.t === 'drain') orders.drain(order.leaving, order.spread)
    else if (order.t === 'reload') orders.reload?.()
    else if (order.t === 'reopenLogs') orders.reopenLogs?.()
    else if (order.t === 'restarting') orders.restarting?.(order.left)
    else if (order.t === 'connection' && socket !== undefined) orders.connection?.(socket)
  })
  void parentGone().then(() => {
    orders.drain('orphaned')
  })
}
