/** WebSocket clients that do as little as possible with what comes, so that they are never what is measured: they note when each message came. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'

/** Zero as the mask leaves the bytes as they are. */
const MASK = '\0\0\0\0'
const PONG = `\x8a\x80${MASK}`
const PING = 9
const MASKED = 0x80
/** The value of a frame's length that says that two bytes follow with it. */
const TWO_BYTES = 126
/** Clients that are opened at a time. */
const AT_A_TIME = 100

/** What is read is looked at before the next read, so all clients share the memory for it. */
const shared = Buffer.alloc(64 * 1024)

/** From this process's clock to the one that all processes of the machine share, in milliseconds. */
const OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now()

/** Milliseconds of a clock that all processes of the machine share. */
export function machineTime(): number {
  return OFFSET + performance.now()
}

/** One client: counts the text frames of a server, which are not fragmented and shorter than 64 KiB. */
class Subscriber {
  readonly #socket: Socket
  readonly #head = Buffer.alloc(4)
  #known = 0
  /** Bytes of the frame that have not come yet. */
  #left = 0
  #handshake = ''
  #isOpen = false
  onMessage: () => void = () => undefined

  constructor({ hostname, port, pathname }: URL, onOpen: () => void, onLost: (error: Error) => void) {
    const callback = (length: number): boolean => {
      if (this.#isOpen) this.#read(length)
      else {
        this.#handshake += shared.toString('latin1', 0, length)
        this.#isOpen = this.#handshake.endsWith('\r\n\r\n')
        if (this.#isOpen && this.#handshake.startsWith('HTTP/1.1 101')) onOpen()
        else if (this.#isOpen) onLost(new Error(this.#handshake))
      }
      return true
    }
    this.#socket = connect({ host: hostname, port: Number(port), onread: { buffer: shared, callback } })
    this.#socket.on('error', onLost)
    this.#socket.write(
      `GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    )
  }

  send(body: string): void {
    this.#socket.write(`\x81${String.fromCharCode(MASKED + body.length)}${MASK}${body}`, 'latin1')
  }

  close(): void {
    this.#socket.destroy()
  }

  #read(length: number): void {
    for (let at = 0; at < length;) {
      if (this.#left === 0) {
        this.#head[this.#known] = shared[at]!
        this.#known += 1
        at += 1
        this.#readHead()
      } else {
        const part = Math.min(this.#left, length - at)
        this.#left -= part
        at += part
        if (this.#left === 0) this.onMessage()
      }
    }
  }

  #readHead(): void {
    const short = this.#head[1]!
    if (this.#known < 2 || (this.#known < 4 && short === TWO_BYTES)) return
    this.#known = 0
    this.#left = short === TWO_BYTES ? this.#head.readUInt16BE(2) : short
    // A ping of ours is empty.
    if ((this.#head[0]! & 15) === PING) this.#socket.write(PONG, 'latin1')
  }
}

/** Clients of one server, all of which get the same messages. */
export class Subscribers {
  readonly #clients: Subscriber[] = []

  /** Opens so many, each of which sends `subscribe` where there is one, and has its answer. */
  static async open(url: string, count: number, subscribe: string | null): Promise<Subscribers> {
    const subscribers = new Subscribers()
    for (let left = count; left > 0; left -= AT_A_TIME) {
      const some = Array.from({ length: Math.min(left, AT_A_TIME) }, () =>
        subscribers.#open(new URL(url), subscribe),
      )
      await Promise.all(some)
    }
    return subscribers
  }

  /** When the next `messages` messages come, in the order of the messages, each at all clients. */
  next(messages: number): Promise<Float64Array> {
    const clients = this.#clients
    const times = new Float64Array(messages * clients.length)
    let left = times.length
    return new Promise(resolve => {
      for (const [i, client] of clients.entries()) {
        let at = i
        client.onMessage = () => {
          times[at] = machineTime()
          at += clients.length
          left -= 1
          if (left === 0) resolve(times)
        }
      }
    })
  }

  close(): void {
    for (const client of this.#clients) client.close()
  }

  #open(url: URL, subscribe: string | null): Promise<void> {
    return new Promise((resolve, reject) => {
      const onOpen = (): void => {
        this.#clients.push(client)
        client.onMessage = resolve
        if (subscribe === null) resolve()
        else client.send(subscribe)
      }
      const client = new Subscriber(url, onOpen, reject)
    })
  }
}
