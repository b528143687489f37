/** Opens what a process writes, remembers and traces of calls. */
import type { GatewayConfig } from '../config/types.ts'
import { systemClock } from '../ports/clock.ts'
import type { Metrics } from '../observe/metrics.ts'
import { Traces } from '../observe/tracing/tracing.ts'
import type { AccessLogConfig } from '../config/observing/types.ts'
import type { LineOutput } from '../observe/access-log.ts'
import type { Logger } from '../observe/log.ts'
import { LogFile } from '../observe/log-file.ts'
import { Records } from '../observe/records.ts'
import type { AppOptions } from './begin.ts'
import type { Closing } from './closing.ts'

/** `access` is what the configuration of the moment says of the access log. */
export function openRecords(
  access: () => AccessLogConfig | null,
  { output, log }: Pick<AppOptions, 'output'> & { readonly log: Logger },
  closing: Closing,
): Records {
  const stdout: LineOutput = {
    write: line => {
      output.write(line)
    },
    reopen: () => undefined,
    close: () => Promise.resolve(),
  }
  const report = (sentence: string): void => {
    log.error(sentence)
  }
  const records = new Records(access, to => (to === 'stdout' ? stdout : new LogFile(to, report)))
  closing.push(() => records.close())
  return records
}

/** Opens the traces. `worker` is its place among several; null where it serves alone. The last spans leave behind the last calls. */
export async function openTracing(
  { tracing, node }: Pick<GatewayConfig, 'tracing' | 'node'>,
  { metrics, log }: { readonly metrics: Metrics; readonly log: Logger },
  worker: number | null,
  closing: Closing,
): Promise<Traces> {
  const process = {
    ...(node.name === null ? {} : { 'service.instance.id': node.name }),
    ...(worker === null ? {} : { 'tollgate.worker': worker }),
  }
  const traces = new Traces({ clock: systemClock, metrics, log, process })
  closing.push(() => traces.close())
  await traces.follow(tracing)
  return traces
}
