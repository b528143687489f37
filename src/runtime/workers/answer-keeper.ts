/** What a worker answers the keeper, and what it hears from it. */
import { systemClock } from '../../ports/clock.ts'
import type { SharedHoldings } from '../../limits/holdings.ts'
import type { Certificate } from '../../http/certificate.ts'
import type { Gateway } from '../../call/gateway.ts'
import type { Logger } from '../../observe/log.ts'
import { metricsOf } from './kept-counters.ts'
import type { Metrics } from '../../observe/metrics.ts'
import type { Records } from '../../observe/records.ts'
import { inTimeSlices } from '../../reload/time-slices.ts'
import type { ProbeFollower } from '../../routes/health/probe-follower.ts'
import { networkState } from '../../routes/network-state.ts'
import { compileInSteps } from '../../snapshot/compile.ts'
import type { HandedOver } from '../../stores/sqlite/usage/journals/hand-over.ts'
import type { KeeperClientOptions } from './keeper-client.ts'
import type { News, Served, WorkerState } from './messages.ts'
import { answerExplain } from '../admin/answer-explain.ts'
import { renewCertificate } from '../open-certificate.ts'
import { swap } from '../gateway.ts'

/** What the keeper's questions are answered from. */
export interface Serving {
  readonly gateway: Gateway
  readonly metrics: Metrics
  readonly records: Records
  readonly journal: HandedOver
  readonly certificate: Certificate | null
  readonly keys: { poll(): void }
  readonly accounts: { refuse(reason: Error): void }
  readonly sockets: { recount(): void }
  readonly log: Logger
}

/** Answers and hears the keeper, from the moment when this worker serves. */
export class Started {
  holdings: SharedHoldings | null = null
  /** Hears of another keeper, if that counts anew, from the ledger; buckets in Redis are still those of before. */
  renewed: () => void = () => undefined
  probing: ProbeFollower | null = null
  /** Machines that share the limits, as the keeper said last. */
  machines = 1
  #serving: Serving | null = null
  #served: Served | null = null
  #isLeaving = false
  /** Why changes of accounts are refused, as the keeper said; null while they are not. */
  #damaged: Error | null = null
  /** Whether the log says that the keeper does not answer. */
  #isAlone = false
  #begin: (serving: Serving) => void = () => undefined
  readonly #begun = new Promise<Serving>(resolve => {
    this.#begin = resolve
  })
  /** Configurations are taken one after another. */
  #last: Promise<unknown> = this.#begun

  readonly answers: KeeperClientOptions['answers'] = {
    held: async () => ({ isTaken: (await this.#serving?.journal.handOver()) ?? true }),
    take: said => {
      const taken = this.#last.then(async () => this.#take(said, await this.#begun))
      this.#last = taken.catch(() => undefined)
      return taken
    },
    serving: () => ({ served: this.#served }),
    state: () => {
      // Its routes are closed one by one: what it says of them says nothing of the upstreams.
      if (this.#isLeaving) throw new Error('this worker is leaving')
      return stateOf(this.#now)
    },
    metrics: () => metricsOf(this.#now.metrics),
    calls: ({ requestId }) => ({ lines: this.#now.records.find(requestId) }),
    purge: which => ({ purged: this.#now.gateway.live.answers.purge(which) }),
    trace: ({ trace, target }) => this.#now.records.traced(trace, target),
    explain: ({ body }) => {
      const reply = answerExplain(body, this.#now.gateway)
      return { status: reply.status, json: 'json' in reply ? reply.json : null }
    },
  }

  is(serving: Serving, served: Served): void {
    this.#serving = serving
    this.#served = served
    if (this.#damaged !== null) serving.accounts.refuse(this.#damaged)
    this.#begin(serving)
  }

  /** It drains: another one may be at its place already. */
  leaves(): void {
    this.#isLeaving = true
  }

  /** The keeper is there again, and knows what all hold. */
  connected(): void {
    if (this.#isAlone) this.#serving?.log.info('the keeper answers again')
    this.#isAlone = false
    this.#serving?.sockets.recount()
  }

  keeperHangs(): void {
    this.#isAlone = true
    this.#serving?.log.error('the keeper does not answer; calls go on without it')
  }

  heard(news: News): void {
    if (news.t === 'machines') this.machines = news.live
    if (news.t === 'damaged') {
      this.#damaged = new Error(news.why)
      this.#serving?.accounts.refuse(this.#damaged)
    }
    if (news.t === 'heads') this.probing?.takeAll(news.reports)
    const { upstreams, floors, sent } = this.#serving?.gateway.live ?? {}
    if (news.t === 'pause') upstreams?.get(news.route)?.pauses.takeIn(news.pause, systemClock.monotonic())
    else if (news.t === 'accounts') this.#serving?.keys.poll()
    else if (news.t === 'sent') sent?.takeIn(news.sent)
    else if (news.t === 'shown') {
      const { network, scale, head, route } = news
      const served = this.#serving?.gateway.snapshot.networks[network]
      // Readers are held to the block, so which route has come to it has to be known as well.
      if (served !== undefined && route !== null)
        upstreams?.learnHead(served, route, head, systemClock.monotonic(), scale)
      floors?.raise(network, scale, head)
    }
  }

  /** The version of the configuration that is served; empty while none is. */
  get version(): string {
    return this.#serving?.gateway.snapshot.version ?? ''
  }

  async #take(served: Served, { gateway, certificate, log }: Serving): Promise<{ readonly version: string }> {
    const { config, version } = served
    const { tls } = config.gateway
    if (certificate !== null && tls !== null) await renewCertificate(certificate, tls)
    if (version !== gateway.snapshot.version)
      await swap(gateway, await inTimeSlices(compileInSteps(config, version)), log)
    this.#served = served
    return { version }
  }

  get #now(): Serving {
    if (this.#serving === null) throw new Error('this worker is starting')
    return this.#serving
  }
}

function stateOf({ gateway, journal }: Serving): WorkerState {
  const { version, networks } = gateway.snapshot
  return {
    pid: process.pid,
    version,
    failure: journal.charging.failure?.message ?? null,
    networks: Object.values(networks).map(network => networkState(network, gateway.live)),
  }
}
