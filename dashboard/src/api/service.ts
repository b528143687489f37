/** Calls of `service_*` methods. */
import { ask, Failure } from './failure.ts'
import { noticeEnd } from './session.ts'
import type { Methods } from './types.ts'

/** Tries of a call while the account's management rate is spent. */
const TRIES = 6

const pause = (ms: number): Promise<void> => new Promise(resolve => setTimeout(resolve, ms))

/** Makes one call; waits its turn when the account makes many, rejects with a Failure otherwise. */
export async function service<M extends keyof Methods>(
  method: M,
  ...[params]: Methods[M]['takes'] extends undefined ? [] : [Methods[M]['takes']]
): Promise<Methods[M]['gives']> {
  for (let tries = 1; ; tries++)
    try {
      const call = { jsonrpc: '2.0', id: 1, method, params: params === undefined ? [] : [params] }
      const reply = (await ask('/api/rpc', 'POST', call)) as { result: Methods[M]['gives'] }
      return reply.result
    } catch (error) {
      noticeEnd(error)
      if (!(error instanceof Failure) || error.reason !== 'rate_limited' || tries === TRIES) throw error
      await pause(error.retryAfterMs + 50)
    }
}
