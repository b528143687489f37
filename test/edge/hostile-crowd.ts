import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Loopback } from '../support/many-sockets.ts'
import { mutate } from '../support/mutate.ts'
import { Random } from '../support/random.ts'

/** Clients that mean no good, on a port, until they are told to stop. */
export class HostileCrowd {
  /** How often each status came back, by what had been sent. */
  readonly statuses: Record<string, Record<string, number>> = {}
  /** Replies that a refusal table knows nothing of. */
  readonly odd: string[] = []
  readonly #port: number
  readonly #open = new Set<Socket>()
  readonly #busy: Promise<void>[] = []
  #over = false

  constructor(port: number) {
    this.#port = port
  }

  /** Sends the same request over and over on a few connections, each time it has been answered. */
  flood(name: string, address: Loopback, connections: number, request: string): void {
    this.#each(connections, async () => {
      const socket = await this.#connect(address)
      while (!this.#over && socket?.destroyed === false) {
        socket.write(request)
        const reply = await this.#data(socket)
        this.#count(name, reply)
        await pause(20)
      }
      socket?.destroy()
    })
  }

  /** Holds connections open and sends a byte of a head on each now and then. */
  slowloris(address: Loopback, connections: number, head: string): void {
    this.#each(connections, async () => {
      const socket = await this.#connect(address)
      const closed = new Promise(resolve => socket?.once('close', resolve))
      for (let i = 0; !this.#over && socket?.destroyed === false; i++) {
        socket.write(head[i % head.length]!)
        await Promise.race([pause(1_000), closed])
      }
      if (socket === undefined) await pause(500)
      socket?.destroy()
    })
  }

  /** Sends random changes of valid requests, each on a connection of its own. */
  mutants(address: Loopback, at: number, seed: number, requests: readonly string[]): void {
    const random = new Random(seed)
    this.#each(at, async () => {
      const socket = await this.#connect(address)
      if (socket === undefined) return
      socket.write(Buffer.from(mutate(random, random.pick(requests)), 'latin1'))
      const reply = await Promise.race([this.#data(socket), pause(300).then(() => '')])
      this.#count('mutants', reply)
      if (reply.includes('"reason":"internal"')) this.odd.push(reply)
      socket.destroy()
    })
  }

  /** Ends them all. */
  async stop(): Promise<void> {
    this.#over = true
    for (const socket of this.#open) socket.destroy()
    await Promise.all(this.#busy)
  }

  #each(count: number, live: () => Promise<void>): void {
    for (let i = 0; i < count; i++)
      this.#busy.push(
        (async () => {
          // They do not all come in one moment.
          await pause(i % 500)
          while (!this.#over) await live()
        })(),
      )
  }

  async #connect(address: Loopback): Promise<Socket | undefined> {
    const socket = connect({ port: this.#port, host: '127.0.0.1', localAddress: address })
    this.#open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => this.#open.delete(socket))
    await new Promise(resolve => socket.once('connect', resolve).once('close', resolve))
    return socket.destroyed ? undefined : socket
  }

  /** What comes next on a connection; nothing when it ends. */
  async #data(socket: Socket): Promise<string> {
    return new Promise(resolve => {
      const take = (chunk: Buffer) => done(chunk.toString('latin1'))
      const end = () => done('')
      const done = (text: string) => {
        socket.off('data', take).off('close', end)
        resolve(text)
      }
      socket.on('data', take).on('close', end)
    })
  }

  #count(name: string, reply: string): void {
    const status = /^HTTP\/1\.1 (\d{3})/.exec(reply)?.[1] ?? 'none'
    const counts = (this.statuses[name] ??= {})
    counts[status] = (counts[status] ?? 0) + 1
  }
}
