/** Opens what a process writes and remembers of calls. */
import type { AccessLogConfig } from '../config/types.ts'
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
