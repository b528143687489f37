import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { Access } from './access.ts'
import { bodyOf, type ClientCall, type ClientLedger } from './client-ledger.ts'
import { socketUrl } from './socket-client.ts'
import { within } from './until.ts'

interface Pending {
  readonly calls: readonly ClientCall[]
  readonly done: (heard: boolean) => void
}

/** A client's socket that writes down in a ledger what it is told. */
export class LedgerSocket {
  /** Messages of subscriptions so far. */
  notified = 0
  readonly closed: Promise<unknown>
  /** The close code; 0 while it is open. */
  code = 0
  readonly #socket: WebSocket
  readonly #ledger: ClientLedger
  readonly #pending = new Map<string, Pending>()
  readonly #notifications: (() => void)[] = []

  constructor(socket: WebSocket, ledger: ClientLedger) {
    this.#socket = socket
    this.#ledger = ledger
    socket.on('error', () => undefined)
    socket.on('message', data => {
      this.#hear((data as Buffer).toString())
    })
    this.closed = new Promise<void>(resolve => {
      socket.once('close', code => {
        this.code = code
        this.#lost()
        resolve()
      })
    })
  }

  /** Sends one message and resolves when it is answered, or can be no more: whether it was. */
  async send(calls: readonly ClientCall[]): Promise<boolean> {
    const key = calls.find(({ id }) => id !== null)?.id
    if (key === undefined || key === null) throw new Error('over a socket nothing answers a notification')
    if (this.#socket.readyState !== WebSocket.OPEN) return false
    return new Promise(done => {
      this.#pending.set(key, { calls, done })
      this.#socket.send(bodyOf(calls))
    })
  }

  /** Resolves when so many messages of subscriptions have come, or the socket is closed. */
  async whenNotified(times: number): Promise<void> {
    while (this.notified < times && this.#socket.readyState === WebSocket.OPEN)
      await new Promise<void>(resolve => this.#notifications.push(resolve))
  }

  /** Closes it with a handshake. */
  async close(): Promise<void> {
    this.#socket.close()
    await this.closed
  }

  /** Cuts it. */
  terminate(): void {
    this.#socket.terminate()
  }

  #hear(frame: string): void {
    const parsed = JSON.parse(frame)
    if (parsed.method !== undefined) {
      this.notified++
      this.#ledger.notified(parsed.method)
      this.#wake()
      return
    }
    const first = [parsed].flat()[0]
    const pending = this.#pending.get(first.id)
    // A refusal of a whole message has id null: it is about the only one there may be.
    const key = pending === undefined ? [...this.#pending.keys()][0] : first.id
    const { calls, done } = this.#pending.get(key)!
    this.#pending.delete(key)
    this.#ledger.reply(calls, frame)
    done(true)
  }

  #lost(): void {
    for (const { calls, done } of this.#pending.values()) {
      this.#ledger.reply(calls, undefined)
      done(false)
    }
    this.#pending.clear()
    this.#wake()
  }

  #wake(): void {
    for (const resolve of this.#notifications.splice(0)) resolve()
  }
}

/** Opens a socket that keeps this ledger. */
export async function openLedgerSocket(access: Access, ledger: ClientLedger): Promise<LedgerSocket> {
  const socket = new WebSocket(socketUrl(access), { perMessageDeflate: false })
  const open = new LedgerSocket(socket, ledger)
  await within('a socket opens', once(socket, 'open'))
  return open
}
