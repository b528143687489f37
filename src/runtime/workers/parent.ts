/** The way of a keeper or a worker to the primary that has started it. */
import type { SendHandle } from 'node:child_process'
import type { Socket } from 'node:net'
import { ConfigError } from '../../config/config-error.ts'
import { formatProblem } from '../../config/problem.ts'
import type { ConnectionHandle } from '../../net/connection-handle.ts'

/** What a child tells the primary. */
export type Report =
  /** It serves. */
  | { readonly t: 'ready' }
  /** The operator wants all processes replaced; the primary as well, or only the others. */
  | { readonly t: 'restart'; readonly primary: boolean }
  /** The workers of the next primary serve, and take connections over. */
  | { readonly t: 'workers' }
  /** A connection on which nothing is in flight, which comes with it and goes on to another worker. */
  | { readonly t: 'connection'; readonly isKept: boolean }
  /** A keeper that waits for the end of the one before it has read what it can by then. */
  | { readonly t: 'prepared' }
  /** Why it does not start. */
  | { readonly t: 'failed'; readonly why: string }

/**
 * How a process leaves: with all others, so that connections which still come are its own to take; alone, so that the others take them; or because
 * the primary has gone, which leaves the address to the next gateway as soon as calls in flight are answered.
 */
export type Leaving = 'with all' | 'alone' | 'orphaned'

/** What the primary tells a child. */
export type Order =
  /**
   * Finish what is in flight and go; `spread` milliseconds to close WebSockets over. With `passesOn` the primary takes connections on which nothing is in
   * flight, for other workers.
   */
  | {
      readonly t: 'drain'
      readonly leaving: Leaving
      readonly spread?: number
      readonly passesOn?: boolean
    }
  /** Read the configuration again. */
  | { readonly t: 'reload' }
  /** Open log files again, which were renamed. */
  | { readonly t: 'reopenLogs' }
  /** To the keeper: the workers leave for good, and it behind them. */
  | { readonly t: 'stopping' }
  /** Workers that are still to be replaced, none of them when it is the keeper's turn; null when all are. */
  | { readonly t: 'restarting'; readonly left: readonly number[] | null }
  /** A connection, which comes with it; another worker has served it before where it `isKept`. */
  | { readonly t: 'connection'; readonly isKept?: boolean }
  /** To the next primary, or to the next keeper: it may begin, as there is no other keeper. */
  | { readonly t: 'keep' }

/** How a worker is to leave: as the order `drain` says. */
export type Drain = Omit<Extract<Order, { readonly t: 'drain' }>, 't'>

/** Who hears of the primary's orders. */
export interface Orders {
  drain(how: Drain): void
  reload?(): void
  reopenLogs?(): void
  stopping?(): void
  restarting?(left: readonly number[] | null): void
  connection?(socket: Socket, isKept: boolean): void
  keep?(): void
}

/** Tells the primary something; one that is gone hears nothing. */
export function report(said: Report): void {
  if (process.connected) process.send?.(said, undefined, undefined, () => undefined)
}

/** Passes a connection on to another worker, by way of the primary; `isKept` where something was asked on it. Resolves when it has left. */
export function passOn(handle: ConnectionHandle, isKept: boolean): Promise<void> {
  return new Promise(resolve => {
    sendConnection(process, { t: 'connection', isKept }, handle, resolve)
  })
}

/** Sends a connection to a primary, and lets go of it; without a way there the connection ends. */
export function sendConnection(
  to: Pick<NodeJS.Process, 'connected' | 'send'>,
  message: Extract<Report | Order, { readonly t: 'connection' }>,
  handle: ConnectionHandle,
  sent: () => void = () => undefined,
): void {
  const isOver = (): void => {
    handle.close()
    sent()
  }
  if (!to.connected) isOver()
  // Node takes its own handles, too, as `cluster` passes them on; a socket would begin to read where it arrives.
  else to.send?.(message, handle as unknown as SendHandle, undefined, isOver)
}

/** Tells the primary why this process does not start; it is said on stderr, too. */
export function reportFailure(error: unknown): void {
  const problems = error instanceof ConfigError ? error.problems.map(formatProblem) : []
  report({
    t: 'failed',
    why: [error instanceof Error ? error.message : String(error), ...problems].join('; '),
  })
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
    if (order.t === 'drain') orders.drain(order)
    else if (order.t === 'reload') orders.reload?.()
    else if (order.t === 'reopenLogs') orders.reopenLogs?.()
    else if (order.t === 'restarting') orders.restarting?.(order.left)
    else if (order.t === 'stopping') orders.stopping?.()
    else if (order.t === 'keep') orders.keep?.()
    else if (socket !== undefined) orders.connection?.(socket, order.isKept === true)
  })
  void parentGone().then(() => {
    orders.drain({ leaving: 'orphaned' })
  })
}
