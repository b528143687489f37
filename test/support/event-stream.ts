import { request, type IncomingMessage } from 'node:http'
import { EventEmitter, once } from 'node:events'
import type { Access } from './access.ts'
import type { Teardown } from './teardown.ts'
import { within } from './until.ts'

/** An event stream as its reader sees it. */
export class EventStream {
  /** All that has come. */
  text = ''
  readonly #reply: IncomingMessage
  readonly #news = new EventEmitter()
  readonly #ended: Promise<'end' | 'cut'>
  #isOver = false

  constructor(reply: IncomingMessage) {
    this.#reply = reply
    reply.setEncoding('utf8')
    reply.on('data', (text: string) => {
      this.text += text
      this.#news.emit('news')
    })
    reply.on('error', () => undefined)
    this.#ended = new Promise(resolve => {
      reply.on('close', () => {
        this.#isOver = true
        this.#news.emit('news')
        resolve(reply.complete ? 'end' : 'cut')
      })
    })
  }

  /** Resolves when it ends: `end` is a clean end, `cut` any other. */
  get ended(): Promise<'end' | 'cut'> {
    return this.endsWithin(30_000)
  }

  /** The same with more patience. */
  async endsWithin(ms: number): Promise<'end' | 'cut'> {
    return within('the end of the stream', this.#ended, ms)
  }

  get status(): number {
    return this.#reply.statusCode ?? 0
  }

  get headers(): IncomingMessage['headers'] {
    return this.#reply.headers
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Resolves when this text has come. */
  async has(text: string): Promise<void> {
    const wait = async () => {
      while (!this.text.includes(text)) {
        if (this.#isOver) throw new Error(`the stream ended without ${text}: ${this.text}`)
        await once(this.#news, 'news')
      }
    }
    await within(`${text} in the stream`, wait())
  }

  /** Stops reading; the connection stays. */
  pause(): void {
    this.#reply.pause()
  }

  resume(): void {
    this.#reply.resume()
  }

  /** Leaves without a word. */
  leave(): void {
    this.#reply.destroy()
  }
}

/** Opens a stream; resolves with its head. */
export async function openStream(t: Teardown, access: Access, path: string): Promise<EventStream> {
  const asked = request({
    host: '127.0.0.1',
    port: access.gateway.port,
    path: access.path + path,
    agent: false,
    headers: { accept: 'text/event-stream' },
  })
  asked.end()
  const [reply] = (await within('the head of the stream', once(asked, 'response'))) as [IncomingMessage]
  asked.on('error', () => undefined)
  t.teardown(() => asked.destroy())
  return new EventStream(reply)
}
