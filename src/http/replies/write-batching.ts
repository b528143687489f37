/**
 * Replies that come in one turn of the event loop leave together at its end: writes that stand close to each other wake the other
 * side once, and cost about half.
 */
import { STATUS_CODES } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Budget } from '../../limits/byte-budget.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { connectionOf } from '../connection.ts'

/** A whole HTTP reply. */
export interface BatchedReply {
  readonly response: ServerResponse
  readonly status: number
  /** As name, value, name, value. */
  readonly headers: string[]
  readonly body: Raw
  /** Where it is counted while its client does not take it; null where no caller is known. */
  readonly budget: Budget | null
}

/** Most sockets that wait for a turn's end: of a message to thousands, the first are sent theirs before those of the last are made (bench/fan-out.ts). */
const MOST_CORKED = 64

let turns = 0
let isAwaited = false
let replies: BatchedReply[] = []
let corked: Socket[] = []

/** Sends a reply with the turn's end. Its head waits too: until it is written, it can still say that the connection ends. */
export function sendWithTurn(reply: BatchedReply): void {
  awaitEnd()
  replies.push(reply)
}

/** Holds what is written to a socket until the turn's end. */
export function corkForTurn(socket: Socket): void {
  if (socket.writableCorked > 0) return
  if (corked.length === MOST_CORKED) uncork()
  awaitEnd()
  socket.cork()
  corked.push(socket)
}

function awaitEnd(): void {
  if (isAwaited) return
  isAwaited = true
  setImmediate(() => {
    isAwaited = false
    turns += 1
    leave()
  })
}

/** How many turns have ended in which anything was sent. */
export function turnsSoFar(): number {
  return turns
}

/** Sends what waits now; to be called before connections are cut. */
export function leave(): void {
  const whole = replies
  replies = []
  for (const { response, status, headers, body, budget } of whole) {
    // One that was answered twice has its first answer.
    if (response.destroyed || response.headersSent) continue
    try {
      sendText(response, status, headers, body)
      countUnsent(response, body.length, budget)
    } catch (error) {
      // A head that cannot be written is a bug of ours: it costs this reply, and no other.
      response.destroy()
      process.emitWarning(error as Error)
    }
  }
  uncork()
}

function uncork(): void {
  const sockets = corked
  corked = []
  for (const socket of sockets) socket.uncork()
}

/** What Node's reply keeps: what it sends when it ends, and what that says of its connection. */
interface Outgoing {
  _header: string
  _hasBody: boolean
  _last: boolean
  readonly _keepAliveTimeout: number
}

/**
 * Sends a whole reply as one text. Node's `writeHead` looks at each header for what it means, and its `end` writes the body, and then nothing, by
 * themselves (bench/http-server.ts).
 */
export function sendText(
  response: ServerResponse,
  status: number,
  headers: readonly string[],
  body: Raw,
): void {
  const reply = response as unknown as Outgoing
  const keepAlive = response.shouldKeepAlive
    ? `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(reply._keepAliveTimeout / 1000)}`
    : 'Connection: close'
  const head = `${headText(status, headers)}Date: ${dateNow()}\r\n${keepAlive}\r\n\r\n`
  response.statusCode = status
  reply._last = !response.shouldKeepAlive
  reply._header = reply._hasBody ? head + body : head
  response.end()
  // The reply lives on while its client reads, and the body need not be there twice.
  reply._header = head
}

/** What would end a header's line, and begin one of its own. */
const CONTROL = /[\0-\x08\n-\x1f\x7f]/

/**
 * The status line and headers, given as name, value, name, value; with the line break behind the last. Throws where a value could not be one
 * (RFC 9110, section 5.5).
 */
export function headText(status: number, headers: readonly string[]): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Refused'}\r\n`
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const [name, value] = [headers[i]!, headers[i + 1]!]
    if (CONTROL.test(value)) throw new Error(`the header ${name} holds a control character`)
    text += `${name}: ${value}\r\n`
  }
  return text
}

let date = { second: 0, text: '' }

/** The second that it is, as `Date` has it (RFC 9110, section 5.6.7). */
function dateNow(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== date.second) date = { second, text: new Date(second * 1000).toUTCString() }
  return date.text
}

/** Bytes that a reply under way costs besides its own: request, response, headers. */
const PER_REPLY = 4 * 1024

type Release = () => void

/** Replies of which somebody keeps count. */
const counted = new WeakSet<ServerResponse>()

/** Calls `release` once: when the reply has been sent, or its connection is gone. */
export function whenSent(response: ServerResponse, release: Release): void {
  const { socket } = response.req
  if (response.closed || socket.destroyed) {
    release()
    return
  }
  counted.add(response)
  const once = (): void => {
    if (stay()) release()
  }
  const stay = connectionOf(socket).whenGone(once)
  response.once('close', once)
}

/**
 * Counts a whole reply that its client has not taken at once, in the caller's budget, or where none is known in the connection's; without
 * room for it, the connection ends.
 */
export function countUnsent(response: ServerResponse, bytes: number, callers: Budget | null): void {
  if (response.writableLength === 0 || counted.has(response)) return
  const { socket } = response.req
  const budget = callers ?? connectionOf(socket).budget
  if (budget === null) return
  const held = bytes + PER_REPLY
  if (!budget.take(held)) {
    socket.destroy()
    return
  }
  whenSent(response, () => {
    budget.giveBack(held)
  })
}

/** Milliseconds that a client may leave a piece unread. */
const STALL = 30_000

/** Writes a piece; resolves when the next may be written, to false when the client is gone. One that does not read is cut. */
export async function writePiece(response: ServerResponse, piece: Buffer, stall = STALL): Promise<boolean> {
  const { socket } = response.req
  const isOpen = (): boolean => !response.destroyed && !socket.destroyed
  if (!isOpen()) return false
  if (response.write(piece)) return true
  return new Promise(resolve => {
    const over = (): void => {
      clearTimeout(timer)
      stay()
      response.off('drain', over).off('close', over)
      resolve(isOpen())
    }
    // Behind an earlier reply of its connection it waits for that one, which has a time of its own.
    let isBehind = response.socket === null
    const timer = setTimeout(() => {
      if (isBehind && isOpen()) {
        isBehind = response.socket === null
        timer.refresh()
      } else {
        response.destroy()
        over()
      }
    }, stall)
    // When a connection closes, Node notifies only the first of its pending replies.
    const stay = connectionOf(socket).whenGone(over)
    response.on('drain', over).on('close', over)
  })
}
