/** What is measured of the limits that several gateways share. */
import type { LimitStore } from '../ports/limit-store.ts'
import type { Metrics } from './metrics.ts'

const SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25]

/** The store, with each message to it counted, and those timed that calls wait for. */
export function measured(store: LimitStore, metrics: Metrics, isAway: () => boolean): LimitStore {
  const asks = metrics.counter(
    'tollgate_limit_asks_total',
    'Messages to the store of shared limits, by result',
    ['result'],
  )
  const waits = metrics.histogram(
    'tollgate_limit_wait_seconds',
    'How long calls waited for an answer of the store of shared limits',
    SECONDS,
  )
  metrics.gauge('tollgate_limit_store_away', 'Whether the store of shared limits does not answer', [], () => [
    [[], isAway() ? 1 : 0],
  ])
  return {
    ask: async questions => {
      if (questions.length === 0 || isAway()) return store.ask(questions)
      const begin = performance.now()
      let result = 'failed'
      try {
        const answers = await store.ask(questions)
        result = 'answered'
        return answers
      } finally {
        asks.add([result])
        if (questions.some(({ want }) => want > 0)) waits.observe([], (performance.now() - begin) / 1000)
      }
    },
  }
}
