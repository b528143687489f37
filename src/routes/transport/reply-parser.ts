/**
 * Reads the reply to one request as HTTP/1.1 (RFC 9112), and to as many as follow on the connection. Where two readers could see two different
 * replies there is none: whoever is behind the upstream must not decide where the next caller's begins.
 */
import type { Raw } from '../../jsonrpc/raw.ts'

/** What the head of a reply says. */
export interface ReplyHead {
  readonly status: number
  /** Bytes of its body; null where only its end shows that. */
  readonly length: number | null
  /** `Retry-After` as it was sent; null where there is none. */
  readonly retryAfter: string | null
  /** The lines of the head. */
  readonly lines: Raw
  /** Milliseconds for which the connection is kept behind it: 0 where it ends, Infinity where nothing is said. */
  readonly keptFor: number
}

/** Hears what is read. */
export interface ReplyListener {
  onHead(head: ReplyHead): void
  /** Text, one character a byte, where it came with the head. */
  onData(piece: Buffer | Raw): void
}

/** Most bytes of a head, of all 1xx heads before a reply together, and of a line around chunks. */
const MOST = 16 * 1024
/** Bytes of a read that are looked at as text, which pays where they are the whole reply. */
const GLANCE = 4 * 1024

/** A status line and fields without folded lines, bare line breaks or other control characters. */
const HEAD =
  /^HTTP\/1\.([01]) ([1-5]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?\r\n(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*\r\n)*$/
const FIELDS = /\r\n(content-length|transfer-encoding|connection|keep-alive|retry-after):([^\r]*)/gi
const CHUNK = /^0*[0-9a-f]{1,8}[ \t]*(?:;[\t\x20-\x7e\x80-\xff]*)?$/i
const TRAILER = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+:[\t\x20-\x7e\x80-\xff]*$/

/** What comes next. */
type Part = 'head' | 'body' | 'rest' | 'chunk line' | 'chunk' | 'chunk end' | 'trailers'

export class ReplyParser {
  #part: Part = 'head'
  /** A head or line that has come in part. */
  #text: Raw = ''
  /** Bytes of the body, or of the chunk, that are still to come. */
  #left = 0
  /** Bytes of heads before the last one so far, and of trailers. */
  #interim = 0
  #trailers = 0
  /** Where in the bytes that are being read its chunks lie that have been joined to one piece. */
  #from = 0
  #to = 0
  #keptFor = 0

  /** Milliseconds for which the connection is kept behind the last reply. */
  get keptFor(): number {
    return this.#keptFor
  }

  /**
   * Reads `length` bytes, and moves those of chunks together. Returns how many of them belong to the reply if it ends there, null if it goes on, and
   * `fault` if they are not a valid reply.
   */
  read(bytes: Buffer, length: number, listener: ReplyListener): number | null | 'fault' {
    let at = 0
    while (at < length) {
      const next = this.#step(bytes, at, length, listener)
      if (next === 'fault') return next
      if (next < 0) {
        this.#part = 'head'
        this.#handOn(bytes, listener)
        return -next
      }
      at = next
    }
    this.#handOn(bytes, listener)
    return null
  }

  /** Whether the end of the connection is that of the reply. */
  get endsWithConnection(): boolean {
    return this.#part === 'rest'
  }

  /** Reads one part from `at` on; returns where the next one begins, negative where the reply is whole. */
  #step(bytes: Buffer, at: number, length: number, listener: ReplyListener): number | 'fault' {
    switch (this.#part) {
      case 'head':
        return this.#readHead(bytes, at, length, listener)
      case 'rest':
        listener.onData(copy(bytes, at, length))
        return length
      case 'body': {
        const end = Math.min(length, at + this.#left)
        this.#left -= end - at
        listener.onData(copy(bytes, at, end))
        return this.#left > 0 ? end : -end
      }
      case 'chunk': {
        const end = Math.min(length, at + this.#left)
        this.#left -= end - at
        this.#join(bytes, at, end)
        if (this.#left === 0) this.#part = 'chunk end'
        return end
      }
      case 'chunk line':
      case 'chunk end':
      case 'trailers':
        return this.#readLine(bytes, at, length)
    }
  }

  /** Ten thousand chunks of a byte would be as many pieces, each a hundred times as large as what it holds. */
  #join(bytes: Buffer, at: number, end: number): void {
    if (this.#to === 0) this.#from = this.#to = at
    else if (end - at > 16) bytes.copyWithin(this.#to, at, end)
    else for (let i = at; i < end; i += 1) bytes[this.#to + i - at] = bytes[i]!
    this.#to += end - at
  }

  #handOn(bytes: Buffer, listener: ReplyListener): void {
    const [from, to] = [this.#from, this.#to]
    if (to === 0) return
    this.#to = 0
    listener.onData(copy(bytes, from, to))
  }

  #readHead(bytes: Buffer, at: number, length: number, listener: ReplyListener): number | 'fault' {
    const before = this.#text.length
    const text =
      this.#text + bytes.toString('latin1', at, Math.min(length, at + (before === 0 ? GLANCE : MOST)))
    const end = text.indexOf('\r\n\r\n', Math.max(0, before - 3))
    if (end < 0) {
      this.#text = text
      return text.length > MOST ? 'fault' : at + text.length - before
    }
    this.#text = ''
    const bodyAt = at + end + 4 - before
    const head = end > MOST ? null : headIn(text.slice(0, end + 2))
    if (head === null || head.status === 101) return 'fault'
    if (head.status < 200) {
      this.#interim += end
      return this.#interim > MOST ? 'fault' : bodyAt
    }
    this.#interim = 0
    this.#keptFor = head.keptFor
    listener.onHead(head)
    const { framing } = head
    if (framing === 0) return -bodyAt
    if (typeof framing !== 'number') {
      this.#part = framing === 'chunked' ? 'chunk line' : 'rest'
      return bodyAt
    }
    const from = end + 4
    if (text.length - from >= framing) {
      listener.onData(text.slice(from, from + framing))
      return -(bodyAt + framing)
    }
    this.#left = framing
    this.#part = 'body'
    return bodyAt
  }

  /** Reads a line around chunks, with CRLF at its end. */
  #readLine(bytes: Buffer, at: number, length: number): number | 'fault' {
    let end = at
    while (end < length && bytes[end] !== 10) end += 1
    if (end === length) {
      this.#text += bytes.toString('latin1', at, end)
      return this.#text.length > MOST ? 'fault' : end
    }
    const isEmpty = end === at + 1 && bytes[at] === 13
    const line = this.#text + (isEmpty ? '\r' : bytes.toString('latin1', at, end))
    this.#text = ''
    if (line.length > MOST || !line.endsWith('\r')) return 'fault'
    return this.#take(line.slice(0, -1), end + 1)
  }

  #take(line: Raw, next: number): number | 'fault' {
    if (this.#part === 'chunk end') {
      this.#part = 'chunk line'
      return line === '' ? next : 'fault'
    }
    if (this.#part === 'trailers') {
      this.#trailers += line.length
      if (line === '') return -next
      return TRAILER.test(line) && this.#trailers <= MOST ? next : 'fault'
    }
    if (!CHUNK.test(line)) return 'fault'
    // It reads no further than the digits.
    this.#left = parseInt(line, 16)
    this.#trailers = 0
    this.#part = this.#left === 0 ? 'trailers' : 'chunk'
    return next
  }
}

/** The bytes are read into the same memory again. */
function copy(bytes: Buffer, from: number, to: number): Buffer {
  return Buffer.from(bytes.subarray(from, to))
}

type ReadHead = ReplyHead & {
  /** Bytes of the body, or how its end is shown. */
  readonly framing: number | 'chunked' | 'end of connection'
}

/** Reads a head, a line break behind its last line; null where it is none, or says two things. */
function headIn(text: Raw): ReadHead | null {
  const line = HEAD.exec(text)
  if (line === null) return null
  const status = Number(line[2])
  let length: number | null = null
  let retryAfter: string | null = null
  let isChunked = false
  let [closes, keeps] = [false, line[1] === '1']
  let keptFor = Infinity
  FIELDS.lastIndex = 0
  for (let found = FIELDS.exec(text); found !== null; found = FIELDS.exec(text)) {
    const value = found[2]!
    switch (found[1]!.toLowerCase()) {
      case 'content-length':
        if (length !== null || !/^[ \t]*\d{1,15}[ \t]*$/.test(value)) return null
        length = Number(value)
        break
      case 'transfer-encoding':
        if (isChunked || !/^[ \t]*chunked[ \t]*$/i.test(value)) return null
        isChunked = true
        break
      case 'connection':
        if (/(?:^|[, \t])close(?:$|[, \t])/i.test(value)) closes = true
        else if (/(?:^|[, \t])keep-alive(?:$|[, \t])/i.test(value)) keeps = true
        break
      case 'keep-alive':
        keptFor = Number(/(?:^|[, \t])timeout=(\d{1,6})/i.exec(value)?.[1] ?? Infinity) * 1000
        break
      default:
        retryAfter ??= value.trim()
    }
  }
  // A reader that believes the other of the two sees another reply (RFC 9112, section 6.3).
  if (isChunked && (length !== null || line[1] === '0')) return null
  const isEmpty = status === 204 || status === 304
  const framing = isEmpty ? 0 : isChunked ? 'chunked' : (length ?? 'end of connection')
  // What should have no body, and says how long it is, may send one, and who asks next would take it for a reply.
  const isSure = framing !== 'end of connection' && (!isEmpty || ((length ?? 0) === 0 && !isChunked))
  const isKept = keeps && !closes && isSure
  return { status, length, retryAfter, lines: text, keptFor: isKept ? keptFor : 0, framing }
}
