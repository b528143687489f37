/** A worker's way to the keeper. While there is none nobody waits: each question fails at once, and its asker knows what to do without. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type {
  HeldCount,
  HoldingAnswer,
  HoldingProcess,
  HoldingQuestion,
  HoldingStore,
} from '../ports/holding-store.ts'
import type { Ledger, SumsFailure, SumsPage, SumsQuery, Totals } from '../ports/ledger.ts'
import type { ProcessMetrics } from './kept-counters.ts'
import type { LimitAnswer, LimitQuestion, LimitStore } from '../ports/limit-store.ts'
import type { RouteReport } from '../routes/health/report.ts'
import type { Batch } from '../stores/sqlite/usage/journals/hand-over.ts'
import { orAfter } from '../net/or-after.ts'
import { Channel } from './channel.ts'
import type { Answers } from './channel.ts'
import { PROTOCOL } from './messages.ts'
import type { Hello, KeeperQuestions, News, Questions, SentUsage, Served } from './messages.ts'

/** Milliseconds between two attempts to connect: the primary starts a new keeper within a second. */
const RETRY = 50
/** Milliseconds that a question waits for a keeper. */
const PATIENCE = 5_000

/** What a worker holds: a keeper that is new hears all of it. */
export interface Holds extends HoldingProcess {
  hello(): readonly HeldCount[]
}

/** What a worker is made of, as far as the keeper asks for it. */
export interface KeeperClientOptions {
  readonly path: string
  readonly slot: number
  readonly version: string
  /** The version of the configuration that is served; empty while none is. */
  readonly serves: () => string
  /** Answers what the keeper asks. */
  readonly answers: Omit<Answers<KeeperQuestions>, 'recall'>
  /** What the worker holds; none where nothing is counted. */
  readonly holdings?: Holds
  /** Hears what others have learned. */
  readonly heard?: (news: News) => void
  /** The keeper is there, or there again. */
  readonly connected?: () => void
}

/** Connects, and connects again. */
export class KeeperClient implements LimitStore, HoldingStore, Ledger {
  readonly #options: KeeperClientOptions
  #channel: Channel<Questions, KeeperQuestions> | null = null
  #socket: Socket | null = null
  #retry: NodeJS.Timeout | undefined
  #version = ''
  /** Those who wait for a keeper. */
  readonly #waiting: (() => void)[] = []
  #isClosed = false

  constructor(options: KeeperClientOptions) {
    this.#options = options
    this.#connect()
  }

  /** Whether the keeper is there. */
  get isConnected(): boolean {
    return this.#channel !== null
  }

  /** The version of the keeper's program, once it has said anything. */
  get version(): string {
    return this.#version
  }

  async ask(buckets: readonly LimitQuestion[]): Promise<readonly (LimitAnswer | null)[]> {
    const { answers } = await this.#there.ask('ask', { buckets })
    return answers
  }

  async hold(questions: readonly HoldingQuestion[]): Promise<readonly (HoldingAnswer | null)[]> {
    const { answers } = await this.#there.ask('hold', { holdings: questions })
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

  async totals(account: string, endpointIds?: readonly string[]): Promise<ReadonlyMap<string, Totals>> {
    const { totals } = await (
      await this.#soonThere()
    ).ask('totals', { account, endpoints: endpointIds ?? null })
    return new Map(totals)
  }

  async sum(query: SumsQuery): Promise<SumsPage | SumsFailure> {
    const { page } = await (await this.#soonThere()).ask('sums', { query })
    return page
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
    this.#socket?.destroy()
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
    if (this.#channel === null) throw new Error('the keeper is away')
    return this.#channel
  }

  #connect(): void {
    const { path, slot, version, serves, answers, holdings, heard, connected } = this.#options
    const socket = connect(path)
    this.#socket = socket
    const recall: Answers<KeeperQuestions>['recall'] = async ({ recalled }) => ({
      held: (await holdings?.recall(recalled)) ?? [],
    })
    const channel = new Channel<Questions, KeeperQuestions>(socket, { ...answers, recall }, message => {
      if (message.t === 'hello') this.#version = (message as Hello).version
      else heard?.(message as News)
    })
    socket.on('connect', () => {
      const hello = { protocol: PROTOCOL, slot, version, serves: serves(), holdings: holdings?.hello() ?? [] }
      channel.say({ t: 'hello', ...hello } satisfies Hello)
      this.#channel = channel
      for (const go of this.#waiting.splice(0)) go()
      connected?.()
    })
    socket.on('close', () => {
      this.#channel = null
      if (this.#isClosed) return
      this.#retry = setTimeout(() => {
        this.#connect()
      }, RETRY)
    })
  }
}
