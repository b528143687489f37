/** A worker's way to the keeper. While there is none nobody waits: each question fails at once, and its asker knows what to do without. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type {
  HeldCount,
  HoldingAnswer,
  HoldingProcess,
  HoldingQuestion,
  HoldingStore,
} from '../../ports/holding-store.ts'
import type { EndpointTotals, Ledger, SumsFailure, SumsPage, SumsQuery } from '../../ports/ledger.ts'
import { THIS_PROCESS } from './kept-counters.ts'
import type { ProcessMetrics } from './kept-counters.ts'
import type { LimitAnswer, LimitQuestion, LimitStore, QuotaOf } from '../../ports/limit-store.ts'
import { Away } from '../../ports/store-unavailable.ts'
import type { RouteReport } from '../../routes/health/report.ts'
import type { Batch } from '../../stores/sqlite/usage/journals/hand-over.ts'
import { orAfter } from '../../net/or-after.ts'
import { Channel } from './channel.ts'
import type { Answers } from './channel.ts'
import type { Hello, KeeperQuestions, News, Questions, SentUsage, Served } from './messages.ts'

/** Milliseconds between two attempts to connect: the primary starts a new keeper within a second. */
const RETRY = 50
/** Milliseconds that a question waits for a keeper. */
const PATIENCE = 5_000
/**
 * A keeper answers within milliseconds what calls wait for. One that has not for so many looks hangs, and counts as away. Looks are counted, and
 * not time: a worker that stood still itself could not hear the answer.
 */
const LOOKS = 6
const LOOK_EVERY = 250

/** What a worker holds: a keeper that is new hears all of it. */
export interface Holds extends HoldingProcess {
  hello(): readonly HeldCount[]
}

/** What a worker is made of, as far as the keeper asks for it. */
export interface KeeperClientOptions {
  readonly path: string
  readonly slot: number
  /** The version of the configuration that is served; empty while none is. */
  readonly serves: () => string
  /** Answers what the keeper asks. */
  readonly answers: Omit<Answers<KeeperQuestions>, 'recall' | 'ping'>
  /** What the worker holds; none where nothing is counted. */
  readonly holdings?: Holds
  /** Hears what others have learned. */
  readonly heard?: (news: News) => void
  /** The keeper is there, or there again. */
  readonly connected?: () => void
  /** Another keeper is there than before. */
  readonly renewed?: () => void
  /** It is there and does not answer. */
  readonly hangs?: () => void
}

/** Connects, and connects again. */
export class KeeperClient implements LimitStore, HoldingStore, Ledger {
  readonly #options: KeeperClientOptions
  #channel: Channel<Questions, KeeperQuestions> | null = null
  #socket: Socket | null = null
  #retry: NodeJS.Timeout | undefined
  #instance: string | null = null
  /** Questions that calls wait for, and the looks since the last answer to one. */
  #calls = 0
  #silent = 0
  readonly #looking: NodeJS.Timeout
  /** Those who wait for a keeper. */
  readonly #waiting: (() => void)[] = []
  #isClosed = false

  constructor(options: KeeperClientOptions) {
    this.#options = options
    this.#looking = setInterval(() => {
      this.#look()
    }, LOOK_EVERY)
    this.#connect()
  }

  /** Whether the keeper is there. */
  get isConnected(): boolean {
    return this.#channel !== null
  }

  async ask(buckets: readonly LimitQuestion[]): Promise<readonly (LimitAnswer | null)[]> {
    const { answers } = await this.#soon(this.#there.ask('ask', { buckets }))
    return answers
  }

  async hold(questions: readonly HoldingQuestion[]): Promise<readonly (HoldingAnswer | null)[]> {
    const { answers } = await this.#soon(this.#there.ask('hold', { holdings: questions }))
    return answers
  }

  /** Resolves once a batch is in the ledger. */
  async takeOver({ file, place, usage }: Batch): Promise<void> {
    const cells = usage.map(({ reasons, ...cell }): SentUsage => ({
      ...cell,
      reasons: reasons === null ? null : Object.fromEntries(reasons),
    }))
    await this.#there.ask('cells', { file, to: place, cells })
  }

  async totals(account: string, endpointIds?: readonly string[]): Promise<EndpointTotals> {
    const { totals, isStale } = await this.#read('totals', { account, endpoints: endpointIds ?? null })
    return isStale ? Object.assign(new Map(totals), { isStale }) : new Map(totals)
  }

  /** What an account has used of a quota, on all workers. */
  async used(quota: QuotaOf): Promise<number | null> {
    return (await this.#read('used', { quota })).units
  }

  async sum(query: SumsQuery): Promise<SumsPage | SumsFailure> {
    return (await this.#read('sums', { query })).page
  }

  /** Has others know what was learned here; while the keeper is away nobody hears it. */
  say(news: News): void {
    this.#channel?.say(news)
  }

  /** All that is known of routes. */
  async reports(): Promise<readonly RouteReport[]> {
    return (await this.#there.ask('reports', {})).reports
  }

  /** Leaves what this worker has counted. */
  async bye(metrics: ProcessMetrics): Promise<void> {
    await this.#there.ask('bye', metrics)
  }

  /** What is to be served. */
  config(): Promise<Served> {
    return this.#there.ask('config', {})
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#retry)
    clearInterval(this.#looking)
    this.#socket?.destroy()
  }

  /** Waits for an answer that comes at once from a keeper that is well. */
  async #soon<T>(answer: Promise<T>): Promise<T> {
    this.#calls += 1
    try {
      return await answer
    } finally {
      this.#calls -= 1
      this.#silent = 0
    }
  }

  /** Lets go of a keeper that hangs: whoever waits for it is answered without it. */
  #look(): void {
    const isWaitedFor = this.#calls > 0 || this.#channel === null
    this.#silent = isWaitedFor ? this.#silent + 1 : 0
    if (this.#silent <= LOOKS) return
    this.#silent = 0
    if (this.#channel !== null) this.#options.hangs?.()
    this.#socket?.destroy()
  }

  /** What a keeper knows of usage. Where it ends with the question, the next one is asked: reading twice changes nothing. */
  async #read<T extends 'totals' | 'used' | 'sums'>(
    t: T,
    said: Questions[T]['said'],
  ): Promise<Questions[T]['told']> {
    const there = await this.#soonThere()
    try {
      return await there.ask(t, said)
    } catch (error) {
      if (!(error instanceof Away)) throw error
      return (await this.#soonThere()).ask(t, said)
    }
  }

  /** The keeper, or the next one: what is read of usage is worth a moment. */
  async #soonThere(): Promise<Channel<Questions, KeeperQuestions>> {
    if (this.#channel === null) {
      const there = new Promise<void>(resolve => this.#waiting.push(resolve))
      await orAfter(there, PATIENCE)
    }
    return this.#there
  }

  get #there(): Channel<Questions, KeeperQuestions> {
    if (this.#channel === null) throw new Away('the keeper is away')
    return this.#channel
  }

  #connect(): void {
    const { path, answers, holdings, heard } = this.#options
    const socket = connect(path)
    this.#socket = socket
    const recall: Answers<KeeperQuestions>['recall'] = async ({ recalled }) => ({
      held: (await holdings?.recall(recalled)) ?? [],
    })
    const all = { ...answers, recall, ping: () => ({}) }
    const channel = new Channel<Questions, KeeperQuestions>(socket, all, message => {
      if (message.t === 'hello') this.#welcomed(message as Hello, channel)
      else heard?.(message as News)
    })
    socket.on('close', () => {
      this.#channel = null
      this.#silent = 0
      if (this.#isClosed) return
      this.#retry = setTimeout(() => {
        this.#connect()
      }, RETRY)
    })
  }

  /** The keeper is there once it has said so: the connections of one that hangs are accepted all the same. */
  #welcomed({ instance }: Hello, channel: Channel<Questions, KeeperQuestions>): void {
    const { slot, serves, holdings, connected, renewed } = this.#options
    const own = { slot, serves: serves(), instance: THIS_PROCESS }
    channel.say({ t: 'hello', ...own, holdings: holdings?.hello() ?? [] } satisfies Hello)
    this.#channel = channel
    for (const go of this.#waiting.splice(0)) go()
    if (instance !== undefined && this.#instance !== null && instance !== this.#instance) renewed?.()
    this.#instance = instance ?? this.#instance
    connected?.()
  }
}
