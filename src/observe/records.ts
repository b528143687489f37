/** What this process writes and remembers of calls, beside its metrics. */
import type { AccessLogConfig } from '../config/observing/types.ts'
import type { AttemptObservation, Observation, RefusedMessage } from '../ports/observer.ts'
import { AccessLog } from './access-log.ts'
import type { LineOutput } from './access-log.ts'
import { attemptLine, callLine, refusalLine } from './call-line.ts'
import type { CallLine } from './call-line.ts'
import { RecentCalls } from './recent-calls.ts'
import { Traces } from './traces.ts'
import type { Traced, TraceTarget } from './traces.ts'

/** The access log, the calls that failed of late, and what is traced. */
export class Records {
  readonly #access: AccessLog
  readonly #recent = new RecentCalls()
  readonly #traces = new Traces()

  constructor(access: () => AccessLogConfig | null, open: (to: string) => LineOutput) {
    this.#access = new AccessLog(access, open)
  }

  call(seen: Observation): void {
    const now = Date.now()
    if (seen.outcome !== 'ok') this.#recent.add(seen, now)
    this.#access.call(seen, now)
    if (this.#traces.isOn) this.#traces.add(seen, () => callLine(seen, now))
  }

  attempt(seen: AttemptObservation): void {
    if (this.#traces.isOn) this.#traces.add(seen, () => attemptLine(seen, Date.now()))
  }

  refused(seen: RefusedMessage): void {
    const now = Date.now()
    if (seen.requestId !== '') this.#recent.add(seen, now)
    this.#access.refused(seen, now)
    if (this.#traces.isOn) this.#traces.add(seen, () => refusalLine(seen, now))
  }

  /** What is remembered of a request that failed. */
  find(requestId: string): CallLine[] {
    return this.#recent.find(requestId)
  }

  /** The lines of a trace since they were last asked for, which opens it. */
  traced(id: string, target: TraceTarget): Traced {
    return this.#traces.take(id, target)
  }

  /** Opens the access log again, which was renamed. */
  reopen(): void {
    this.#access.reopen()
  }

  async close(): Promise<void> {
    this.#traces.close()
    await this.#access.close()
  }
}
