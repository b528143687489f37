/** A worker's way to the keeper. While there is none nobody waits: each question fails at once, and its asker knows what to do without. */
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import type { Ledger, SumsFailure, SumsPage, SumsQuery, Totals } from '../ports/ledger.ts'
import type { LimitAnswer, LimitQuestion, LimitStore } from '../ports/limit-store.ts'
import type { Batch } from '../stores/sqlite/usage/journals/hand-over.ts'
import { Channel } from './channel.ts'
import type { Answers } from './channel.ts'
import { PROTOCOL } from './messages.ts'
import type { Hello, KeeperQuestions, Questions, SentUsage, Served } from './messages.ts'

/** Milliseconds between two attempts to connect: the primary starts a new keeper within a second. */
const RETRY = 50

/** What a worker is made of, as far as the keeper asks for it. */
export interface KeeperClientOptions {
  readonly path: string
  readonly slot: number
  readonly version: string
  /** Answers what the keeper asks. */
  readonly answers: Answers<KeeperQuestions>
  /** The keeper is there, or there again. */
  readonly connected?: () => void
}

/** Connects, and connects again. */
export class KeeperClient implements LimitStore, Ledger {
  readonly #options: KeeperClientOptions
  #channel: Channel<Questions, KeeperQuestions> | null = null
  #socket: Socket | null = null
  #retry: NodeJS.Timeout | undefined
  #isClosed = false

  constructor(options: KeeperClientOptions) {
    this.#options = options
    this.#connect()
  }

  /** Whether the keeper is there. */
  get isConnected(): boolean {
    return this.#channel !== null
  }

  async ask(buckets: readonly LimitQuestion[]): Promise<readonly (LimitAnswer | null)[]> {
    const { answers } = await this.#there.ask('ask', { buckets })
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
    const { totals } = await this.#there.ask('totals', { account, endpoints: endpointIds ?? null })
    return new Map(totals)
  }

  async sum(query: SumsQuery): Promise<SumsPage | SumsFailure> {
    const { page } = await this.#there.ask('sums', { query })
    return page
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

  get #there(): Channel<Questions, KeeperQuestions> {
    if (this.#channel === null) throw new Error('the keeper is away')
    return this.#channel
  }

  #connect(): void {
    const { path, slot, version, answers, connected } = this.#options
    const socket = connect(path)
    this.#socket = socket
    const channel = new Channel<Questions, KeeperQuestions>(socket, answers)
    socket.on('connect', () => {
      channel.say({ t: 'hello', protocol: PROTOCOL, slot, version } satisfies Hello)
      this.#channel = channel
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
