/** A worker that is connected to the keeper. */
import type { HoldingsOfAll, Recalled } from '../../ports/holding-store.ts'
import type { Channel } from './channel.ts'
import type { Hello, KeeperQuestions, News, Questions, Served } from './messages.ts'

/** What the keeper has for all of them. */
export interface WorkerParts {
  readonly holdings: HoldingsOfAll
  /** What is served now. */
  readonly config: () => Served
  /** Why changes of accounts are refused; null while they are not. */
  readonly damaged: () => string | null
  /** Hears that the worker at a place has begun to hang, or answers again. */
  readonly hangs?: (slot: number, isAway: boolean) => void
}

/** One worker, from its `hello` to the end of its connection. */
export class ConnectedWorker {
  readonly hello: Hello
  readonly channel: Channel<KeeperQuestions, Questions>
  /** What it holds. */
  readonly holdings: ReturnType<HoldingsOfAll['join']>
  readonly #pulse: Pulse
  readonly #config: () => Served

  constructor(
    hello: Hello,
    channel: ConnectedWorker['channel'],
    { holdings, config, damaged, hangs }: WorkerParts,
  ) {
    const { slot } = hello
    this.hello = hello
    this.channel = channel
    this.#config = config
    this.#pulse = new Pulse({
      ping: () => channel.ask('ping', {}),
      hangs: () => hangs?.(slot, true),
      answers: () => {
        hangs?.(slot, false)
        this.#take(config())
      },
    })
    const process = { recall: (recalled: readonly Recalled[]) => this.#recall(recalled) }
    this.holdings = holdings.join(slot, process, hello.holdings, hello.instance)
    this.#bringUpToDate()
    const why = damaged()
    if (why !== null) channel.say({ t: 'damaged', why } satisfies News)
  }

  /** Whether it hangs: nobody waits for it. */
  get isAway(): boolean {
    return this.#pulse.isAway
  }

  /** Looks whether it answers; to be called every `LOOK_EVERY` milliseconds. */
  look(): void {
    this.#pulse.look()
  }

  async #recall(recalled: readonly Recalled[]): Promise<readonly number[]> {
    if (this.isAway) throw new Error('the worker does not answer')
    return (await this.channel.ask('recall', { recalled })).held
  }

  /** What was edited while there was no keeper, or no way to it. */
  #bringUpToDate(): void {
    const { serves } = this.hello
    if (serves === '') return
    const served = this.#config()
    if (serves !== served.version) this.#take(served)
  }

  #take(served: Served): void {
    void this.channel.ask('take', served).catch(() => undefined)
  }
}

/** Whether a worker answers: one that hangs keeps its connection, and whoever asks all workers would wait for it. */

/** Milliseconds between two looks at all workers. */
export const LOOK_EVERY = 500
/**
 * Looks without an answer after which a worker counts as away. Looks are counted, and not time: a keeper that stood still itself could not hear the
 * answer.
 */
const LOOKS = 4

/** What is done about one worker. */
export interface PulseParts {
  /** Asks it for a sign of life. */
  ping(): Promise<unknown>
  /** It has not answered for two seconds. */
  hangs(): void
  /** It answers again. */
  answers(): void
}

/** The pulse of one worker. */
export class Pulse {
  /** Whether it hangs. */
  isAway = false
  readonly #parts: PulseParts
  #isAsked = false
  #looks = 0

  constructor(parts: PulseParts) {
    this.#parts = parts
  }

  look(): void {
    if (!this.#isAsked) {
      void this.#ask()
      return
    }
    this.#looks += 1
    if (this.#looks < LOOKS || this.isAway) return
    this.isAway = true
    this.#parts.hangs()
  }

  async #ask(): Promise<void> {
    this.#isAsked = true
    this.#looks = 0
    try {
      await this.#parts.ping()
    } catch {
      // Its connection is lost, and the worker with it.
      return
    }
    this.#isAsked = false
    if (!this.isAway) return
    this.isAway = false
    this.#parts.answers()
  }
}
