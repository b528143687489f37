/** The cache of a process, and what it has to be told of the chains. */
import type { Logger } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Heads } from '../routes/heads.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { MemoryAnswers } from '../stores/memory/answers.ts'

/** Opens the cache; empty and without a byte where none is configured. */
export function openAnswers(
  { gateway }: Pick<Snapshot, 'gateway'>,
  { finality }: Pick<Heads, 'finality'>,
  metrics: Metrics,
  log: Logger,
): MemoryAnswers {
  const answers = new MemoryAnswers(gateway.cache?.memory ?? 0)
  const resets = metrics.counter(
    'tollgate_cache_resets_total',
    'Times that what was final on a network had changed, and all of its answers were dropped',
    ['network'],
  )
  finality.whenReset((network, why) => {
    answers.purge({ network })
    // Where another process probes, it says so for all.
    if (why === null) return
    resets.add([network])
    log.warn({ network, why }, 'final blocks have changed: the kept answers of the network were dropped')
  })
  finality.whenUnknown(network => {
    log.warn({ network }, 'no route can say which block is final: no answer about a block is kept for good')
  })
  registerAnswers(answers, metrics)
  return answers
}

function registerAnswers(answers: MemoryAnswers, metrics: Metrics): void {
  metrics.gauge('tollgate_cache_bytes', 'Bytes of kept answers and their keys, by count', [], () => [
    [[], answers.bytes],
  ])
  metrics.gauge('tollgate_cache_entries', 'Kept answers', [], () => [[[], answers.entries]])
  metrics.counted('tollgate_cache_evicted_total', 'Kept answers that made room for others', [], () => [
    [[], answers.evicted],
  ])
}
