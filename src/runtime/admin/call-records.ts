/** What the operator may ask about calls: one by its request id, and all of a customer's as they come. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { AccessLogConfig } from '../../config/observing/types.ts'
import type { AdminReply } from '../../http/admin/listener.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import type { CallLine } from '../../observe/call-line.ts'
import { findInLogs } from '../../observe/find-in-log.ts'
import type { Traced, TraceTarget } from '../../observe/traces.ts'

/** Milliseconds between two looks for lines of a trace, and after which an empty line says that it goes on. */
const LOOK = 250
const SIGN_OF_LIFE = 15_000
/** Seconds that one trace may take. */
const LONGEST = 86_400

/** What the processes that serve calls know of them. */
export interface Remembered {
  /** What is remembered of a request that failed. */
  find(requestId: string): MaybePromise<readonly CallLine[]>
  /** The lines of a trace since they were last asked for. */
  traced(id: string, target: TraceTarget): MaybePromise<Traced>
}

/** The same, with what is on disk. */
export interface CallRecords extends Pick<Remembered, 'traced'> {
  find(requestId: string): Promise<readonly CallLine[]>
}

/** Looks into the access log where nothing is remembered. */
export function callRecords(remembered: Remembered, access: () => AccessLogConfig | null): CallRecords {
  return {
    traced: (id, target) => remembered.traced(id, target),
    find: async requestId => {
      const known = await remembered.find(requestId)
      const to = access()?.to ?? 'stdout'
      return known.length > 0 || to === 'stdout' ? known : findInLogs(to, requestId)
    },
  }
}

/** `POST /calls {requestId}`. */
export async function answerCalls(body: unknown, calls: CallRecords): Promise<AdminReply> {
  const { requestId } = (body ?? {}) as Readonly<Record<string, unknown>>
  if (typeof requestId !== 'string') return { status: 400, json: { error: '"requestId" must be a string' } }
  return { status: 200, json: { calls: await calls.find(requestId) } }
}

/** `POST /trace {account | endpoint, seconds}`: lines of JSON as they come, until the time is over, somebody leaves, or the gateway ends. */
export function answerTrace(
  body: unknown,
  calls: Pick<CallRecords, 'traced'>,
  isOver: () => boolean,
): AdminReply {
  const { account, endpoint, seconds } = (body ?? {}) as Readonly<Record<string, unknown>>
  const target = targetOf(account, endpoint)
  if (target === null) return { status: 400, json: { error: 'give "account" or "endpoint", an id' } }
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= LONGEST))
    return { status: 400, json: { error: `"seconds" must be a number up to ${LONGEST}` } }
  const end = performance.now() + seconds * 1000
  const isDone = (): boolean => isOver() || performance.now() >= end
  return { status: 200, lines: traceLines(target, calls, isDone), type: 'application/x-ndjson' }
}

function targetOf(account: unknown, endpoint: unknown): TraceTarget | null {
  if (typeof account === 'string' && endpoint === undefined) return { account }
  return typeof endpoint === 'string' && account === undefined ? { endpoint } : null
}

async function* traceLines(
  target: TraceTarget,
  calls: Pick<CallRecords, 'traced'>,
  isDone: () => boolean,
): AsyncGenerator<string> {
  const id = randomUUID()
  let saidAt = -Infinity
  for (let last = false; !last;) {
    last = isDone()
    const { lines, dropped } = await calls.traced(id, target)
    const text = lines.map(line => `${JSON.stringify(line)}\n`).join('')
    const more = dropped === 0 ? '' : `${JSON.stringify({ msg: 'dropped', count: dropped })}\n`
    const now = performance.now()
    if (text !== '' || more !== '' || now - saidAt > SIGN_OF_LIFE) {
      yield text === '' && more === '' ? '\n' : text + more
      saidAt = now
    }
    if (!last) await pause(LOOK)
  }
}
