import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FilledAccount } from '../../test/support/usage-rows.ts'

const part = fileURLToPath(new URL('usage-file.ts', import.meta.url))

/** Fills the journal.db of a gateway that is not running: ten million rows in less than a minute. */
export function fillUsageFile(dataDir: string, accounts: readonly FilledAccount[]): void {
  const input = JSON.stringify(accounts)
  execFileSync(process.execPath, ['--import=tsx', part, dataDir], {
    input,
    stdio: ['pipe', 'inherit', 'inherit'],
  })
}
