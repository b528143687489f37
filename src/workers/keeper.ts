/** What the keeper holds for the workers of its machine: their limits, and the ledger of all. */
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import type { SharedBuckets } from '../limits/shared/buckets.ts'
import type { Ledger } from '../ports/ledger.ts'
import type { Usage } from '../stores/sqlite/usage/fold.ts'
import { orAfter } from '../net/or-after.ts'
import { Channel } from './channel.ts'
import type { Answers } from './channel.ts'
import { PROTOCOL } from './messages.ts'
import type { Hello, KeeperQuestions, Questions, SentUsage } from './messages.ts'

/** Milliseconds that a worker gets to hand over what it holds; a silent one counts with what it said last. */
const PATIENCE = 200

/** What the keeper works with. */
export interface KeeperParts {
  readonly buckets: SharedBuckets
  /** Takes usage over into the ledger, once for each place of a journal. */
  readonly takeOver: (file: string, place: number, usage: readonly Usage[]) => void
  /** Reads the ledger. */
  readonly ledger: Ledger
  readonly version: string
}

/** A worker that is connected. */
interface Worker {
  readonly hello: Hello
  readonly channel: Channel<KeeperQuestions, Questions>
}

/** Answers workers over a Unix socket. */
export class Keeper {
  readonly #parts: KeeperParts
  readonly #workers = new Set<Worker>()
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  #handing: Promise<void> | null = null

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#server = createServer(socket => {
      this.#serve(socket)
    })
  }

  /** The workers' places that are connected. */
  get slots(): number[] {
    return [...this.#workers].map(({ hello }) => hello.slot).sort((a, b) => a - b)
  }

  /** Listens at a path, in place of a keeper that was killed. */
  listen(path: string): Promise<void> {
    rmSync(path, { force: true })
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(path, () => {
        // Who may speak here may spend everybody's quotas.
        chmodSync(path, 0o600)
        resolve()
      })
    })
  }

  /**
   * Resolves when the ledger has all that the workers had charged when it was asked for. Those who ask while the workers are being asked share the
   * next round.
   */
  async gather(): Promise<void> {
    const before = this.#handing
    if (before !== null) {
      await before
      await (this.#handing ?? this.#gather())
    } else await this.#gather()
  }

  async close(): Promise<void> {
    const closed = new Promise(resolve => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #gather(): Promise<void> {
    const asked = [...this.#workers].map(async ({ channel }) => {
      await channel.ask('held', {}).catch(() => undefined)
    })
    const all = Promise.all(asked).then(() => undefined)
    const round = orAfter(all, PATIENCE).then(() => {
      if (this.#handing === round) this.#handing = null
    })
    this.#handing = round
    return round
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket)
    let worker: Worker | null = null
    const channel = new Channel<KeeperQuestions, Questions>(
      socket,
      this.#answers(() => worker),
      message => {
        if (message.t !== 'hello') return
        worker = { hello: message as Hello, channel }
        this.#workers.add(worker)
      },
    )
    channel.say({ t: 'hello', protocol: PROTOCOL, slot: 0, version: this.#parts.version } satisfies Hello)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      if (worker !== null) this.#workers.delete(worker)
    })
  }

  #answers(worker: () => Worker | null): Answers<Questions> {
    const { buckets, takeOver, ledger } = this.#parts
    return {
      ask: async ({ buckets: questions }) => {
        const name = String(worker()?.hello.slot ?? '')
        return { answers: await buckets.of(name).ask(questions) }
      },
      cells: ({ file, to, cells }) => {
        takeOver(file, to, cells.map(usageOf))
        return { to }
      },
      totals: async ({ account, endpoints }) => {
        await this.gather()
        return { totals: [...(await ledger.totals(account, endpoints ?? undefined))] }
      },
      sums: async ({ query }) => {
        await this.gather()
        return { page: await ledger.sum(query) }
      },
    }
  }
}

function usageOf({ reasons, ...sent }: SentUsage): Usage {
  return { ...sent, reasons: reasons === null ? null : new Map(Object.entries(reasons)) }
}
