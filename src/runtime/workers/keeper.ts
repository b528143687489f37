/** What the keeper holds for the workers of its machine: their limits, what their callers hold, and the ledger of all. */
import { randomUUID } from 'node:crypto'
import { chmodSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Server, Socket } from 'node:net'
import type { BucketsOfAll } from '../../limits/buckets.ts'
import { HeldCounts } from '../../limits/held-counts.ts'
import type { HoldingsOfAll } from '../../ports/holding-store.ts'
import type { Ledger } from '../../ports/ledger.ts'
import type { ProcessMetrics } from './kept-counters.ts'
import type { LimitStore, QuotaOf } from '../../ports/limit-store.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import type { RouteReport } from '../../routes/health/report.ts'
import type { Usage } from '../../stores/sqlite/usage/fold.ts'
import { orAfter } from '../../net/or-after.ts'
import { Channel } from './channel.ts'
import type { Answers } from './channel.ts'
import { CompleteLedger } from './complete-ledger.ts'
import { ConnectedWorker, LOOK_EVERY } from './connected-worker.ts'
import type { WorkerParts } from './connected-worker.ts'
import { usageOf } from './messages.ts'
import type { Hello, KeeperQuestions, News, Questions } from './messages.ts'

/** Milliseconds that a worker gets to hand over what it holds; a silent one counts with what it said last. A killed one's journal gets as long. */
const PATIENCE = 200

/** What one worker says that is for all others. */
const PASSED_ON: ReadonlySet<News['t']> = new Set(['pause', 'shown', 'sent', 'accounts'])

/** What the keeper works with. */
export interface KeeperParts extends Omit<WorkerParts, 'holdings'> {
  readonly buckets: BucketsOfAll
  /** What callers hold on all workers; default: counted anew, with whoever has come. */
  readonly holdings?: HoldingsOfAll
  /** Workers that were there before: until so many have come, or for a second, no quota is decided. */
  readonly workers?: number
  /** Takes usage over into the ledger, once for each place of a journal. */
  readonly takeOver: (file: string, place: number, usage: readonly Usage[]) => void
  /** Takes over what killed workers have left. */
  readonly takeLeft?: () => Promise<void>
  readonly ledger: Ledger
  /** What is used of a quota by all workers. */
  readonly used: (quota: QuotaOf) => MaybePromise<number | null>
  /** All that is known of routes. */
  readonly reports: () => readonly RouteReport[]
  /** Hears what a worker has learned. */
  readonly heard: (news: News) => void
  /** Keeps what a worker that leaves has counted. */
  readonly left: (metrics: ProcessMetrics) => Promise<void>
}

/** The answer of the worker at a place. */
export interface Told<T extends keyof KeeperQuestions> {
  readonly slot: number
  readonly told: KeeperQuestions[T]['told']
}

/** Answers workers over a Unix socket. */
export class Keeper {
  readonly #parts: KeeperParts
  readonly #holdings: HoldingsOfAll
  readonly #workers = new Set<ConnectedWorker>()
  readonly #sockets = new Set<Socket>()
  readonly #server: Server
  readonly #hello = { t: 'hello', slot: 0, serves: '', instance: randomUUID() } as const
  readonly #looking: NodeJS.Timeout
  #handing: Promise<void> | null = null
  #last = 0
  #gone: () => void = () => undefined
  readonly #ledger: CompleteLedger

  constructor(parts: KeeperParts) {
    this.#parts = parts
    this.#ledger = new CompleteLedger(parts.workers ?? 0, parts.buckets, this)
    this.#holdings = parts.holdings ?? new HeldCounts()
    this.#server = createServer(socket => {
      this.#serve(socket)
    })
    this.#looking = setInterval(() => {
      for (const worker of this.#workers) worker.look()
    }, LOOK_EVERY)
  }

  /** Resolves when the workers that were there before have come, or two seconds after the start. */
  get settled(): Promise<void> {
    return this.#ledger.settled
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

  /** What each worker answers that does so within `patience` milliseconds, by their places. One that hangs is not asked. */
  async ask<T extends keyof KeeperQuestions>(
    t: T,
    said: KeeperQuestions[T]['said'],
    patience = PATIENCE,
  ): Promise<readonly Told<T>[]> {
    const told: Told<T>[] = []
    const there = [...this.#workers].filter(({ isAway }) => !isAway)
    const asked = there.map(async ({ hello: { slot }, channel }) => {
      const one = await channel.ask(t, said).catch(() => null)
      if (one !== null) told.push({ slot, told: one })
    })
    await orAfter(
      Promise.all(asked).then(() => undefined),
      patience,
    )
    return told.sort((a, b) => a.slot - b.slot)
  }

  /** Resolves when no worker is connected: none has anything more to hand over. */
  async allGone(): Promise<void> {
    while (this.#workers.size > 0)
      await new Promise<void>(resolve => {
        this.#gone = resolve
      })
  }

  async close(): Promise<void> {
    clearInterval(this.#looking)
    const closed = new Promise(resolve => this.#server.close(resolve))
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  #gather(): Promise<void> {
    const left = this.#parts.takeLeft?.().catch(() => undefined)
    const round = Promise.all([this.ask('held', {}), left && orAfter(left, PATIENCE)]).then(() => {
      if (this.#handing === round) this.#handing = null
    })
    this.#handing = round
    return round
  }

  #serve(socket: Socket): void {
    // One that follows another at its place is not the same.
    this.#last += 1
    const store = this.#parts.buckets.of(String(this.#last))
    this.#sockets.add(socket)
    let worker: ConnectedWorker | null = null
    const channel = new Channel<KeeperQuestions, Questions>(
      socket,
      this.#answers(store, () => worker),
      message => {
        if (message.t === 'hello') worker ??= this.#welcome(message as Hello, channel)
        else if (worker !== null) this.#hear(message as News, worker)
      },
    )
    channel.say(this.#hello satisfies Hello)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      if (worker !== null) {
        this.#workers.delete(worker)
        worker.holdings.leave()
      }
      this.#gone()
    })
  }

  /** Sends news to all workers but the one that they come from. */
  broadcast(news: News, except: ConnectedWorker | null = null): void {
    for (const worker of this.#workers) {
      // What is known of routes comes again: for one that hangs it would pile up.
      const isDropped = news.t === 'heads' && worker.isAway
      if (worker !== except && !isDropped) worker.channel.say(news)
    }
  }

  #hear(news: News, from: ConnectedWorker): void {
    this.#parts.heard(news)
    if (PASSED_ON.has(news.t)) this.broadcast(news, from)
  }

  #welcome(hello: Hello, channel: ConnectedWorker['channel']): ConnectedWorker {
    const worker = new ConnectedWorker(hello, channel, { ...this.#parts, holdings: this.#holdings })
    this.#workers.add(worker)
    this.#ledger.came(this.#workers.size)
    return worker
  }

  #answers(store: LimitStore, worker: () => ConnectedWorker | null): Answers<Questions> {
    const { takeOver, ledger, used, config, reports, left } = this.#parts
    return {
      config,
      bye: async metrics => {
        await left(metrics)
        return {}
      },
      reports: () => ({ reports: reports() }),
      ask: async ({ buckets: questions }) => {
        const incomplete = this.#ledger.before(questions)
        if (incomplete !== null) await incomplete
        return { answers: await store.ask(questions) }
      },
      hold: async ({ holdings }) => ({ answers: (await worker()?.holdings.hold(holdings)) ?? [] }),
      cells: ({ file, to, cells }) => {
        takeOver(file, to, cells.map(usageOf))
        return { to }
      },
      used: async ({ quota }) => ({ units: await used(quota) }),
      totals: async ({ account, endpoints }) => {
        await this.gather()
        const totals = await ledger.totals(account, endpoints ?? undefined)
        return { totals: [...totals], isStale: totals.isStale === true }
      },
      sums: async ({ query }) => {
        await this.gather()
        return { page: await ledger.sum(query) }
      },
    }
  }
}
