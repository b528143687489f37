import { setTimeout as pause } from 'node:timers/promises'
import { Pool } from 'undici'
import { message, type Access } from './access.ts'

/** A caller who makes one call every 20 ms on a connection of its own, whatever others do. */
export class Bystander {
  /** How long each answered call took, in milliseconds. */
  readonly took: number[] = []
  /** Statuses other than 200 that came back; 0 is a broken connection. */
  readonly failures: number[] = []
  readonly #pool: Pool
  readonly #path: string
  readonly #done: Promise<void>
  #isOver = false

  constructor(access: Access) {
    this.#pool = new Pool(access.gateway.url, { connections: 1, pipelining: 1 })
    this.#path = access.path
    this.#done = this.#run()
  }

  /** The slowest call so far, in milliseconds. */
  get slowest(): number {
    return Math.max(0, ...this.took)
  }

  /** Waits for so many further calls. */
  async calls(times: number): Promise<void> {
    const enough = this.took.length + this.failures.length + times
    while (this.took.length + this.failures.length < enough) await pause(10)
  }

  /** Makes no further call; resolves when the last one is answered. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#done
    await this.#pool.close()
  }

  async #run(): Promise<void> {
    const request = {
      path: this.#path,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: message('eth_chainId'),
    } as const
    while (!this.#isOver) {
      const at = performance.now()
      try {
        const { statusCode, body } = await this.#pool.request(request)
        await body.text()
        if (statusCode === 200) this.took.push(performance.now() - at)
        else this.failures.push(statusCode)
      } catch {
        this.failures.push(0)
      }
      await pause(20)
    }
  }
}
