/** The way of a keeper or a worker to the primary that has started it. */
import type { Socket } from 'node:net'

/** What a child tells the primary. */
export interface Ready {
  readonly t: 'ready'
}

/** What the primary tells a child. */
export type Order =
  /** Finish what is in flight and go; connections that still come are taken, or left to others. */
  | { readonly t: 'drain'; readonly takesLast: boolean }
  /** Read the configuration again. */
  | { readonly t: 'reload' }
  /** A connection, which comes with it. */
  | { readonly t: 'connection' }

/** Who hears of the primary's orders. */
export interface Orders {
  drain(takesLast: boolean): void
  reload?(): void
  connection?(socket: Socket): void
}

/** Tells the primary that this process serves. */
export function tellReady(): void {
  process.send?.({ t: 'ready' } satisfies Ready)
}

/**
 * Hears what the primary wants. Signals are the primary's to hear: a terminal and systemd send them to all processes at once. Without a primary
 * nobody would start what ends, or end it: this process finishes as if it was told to, and leaves the
 * address to the next gateway.
 */
export function hearOrders(orders: Orders): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)
  process.on('message', (order: Order, socket?: Socket) => {
    if (order.t === 'drain') orders.drain(order.takesLast)
    else if (order.t === 'reload') orders.reload?.()
    else if (socket !== undefined) orders.connection?.(socket)
  })
  process.once('disconnect', () => {
    orders.drain(false)
  })
}
