/** The access log: which calls get a line (gateway.yaml, `log.access`). */
import type { AccessLogConfig } from '../config/observing/types.ts'
import type { Observation, RefusedMessage } from '../ports/observer.ts'
import { prefixOf } from '../net/address-range.ts'
import { callLine, refusalLine } from './call-line.ts'
import type { CallLine } from './call-line.ts'

/** Where lines go. */
export interface LineOutput {
  write(line: string): void
  /** Opens its file again, which was renamed. */
  reopen(): void
  close(): Promise<void>
}

type Seen = Observation | RefusedMessage

/** Writes what the configuration of the moment asks for. */
export class AccessLog {
  readonly #config: () => AccessLogConfig | null
  readonly #open: (to: string) => LineOutput
  #current: AccessLogConfig | null = null
  #fits: (seen: Seen) => boolean = () => false
  #output: LineOutput | null = null

  /** `config` is asked for each call; another object is another configuration. */
  constructor(config: () => AccessLogConfig | null, open: (to: string) => LineOutput) {
    this.#config = config
    this.#open = open
  }

  call(seen: Observation, now: number): void {
    if (this.#wants(seen)) this.#write(callLine(seen, now), seen.address)
  }

  refused(seen: RefusedMessage, now: number): void {
    if (this.#wants(seen)) this.#write(refusalLine(seen, now), seen.address)
  }

  reopen(): void {
    this.#output?.reopen()
  }

  async close(): Promise<void> {
    await this.#output?.close()
  }

  #wants(seen: Seen): boolean {
    const config = this.#config()
    if (config !== this.#current) this.#take(config)
    return config !== null && this.#fits(seen)
  }

  #take(config: AccessLogConfig | null): void {
    if (config?.to !== this.#current?.to) {
      void this.#output?.close()
      this.#output = config === null ? null : this.#open(config.to)
    }
    this.#current = config
    this.#fits = fitting(config?.filter ?? null)
  }

  #write(line: CallLine, address: string | null): void {
    const shown = this.#current?.address ?? 'none'
    const from = address === null || shown === 'none' ? null : shown === 'full' ? address : prefixOf(address)
    this.#output?.write(`${JSON.stringify(from === null ? line : { ...line, address: from })}\n`)
  }
}

function fitting(filter: AccessLogConfig['filter']): (seen: Seen) => boolean {
  if (filter === null) return () => true
  const { slower, sample } = filter
  const status = new Set(filter.status)
  return seen => {
    const said = String(seen.status)
    if (status.has(said) || status.has(`${said[0] ?? ''}xx`)) return true
    if (slower !== null && 'totalMs' in seen && seen.totalMs >= slower) return true
    return sample > 0 && partOf(seen.requestId) < sample
  }
}

/** Where a request id, which is random, stands among all: the calls of a batch are sampled together. */
function partOf(requestId: string): number {
  return Buffer.from(requestId.slice(0, 8), 'base64url').readUIntBE(0, 6) / 2 ** 48
}
