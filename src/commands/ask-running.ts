/** Asks the gateway that runs on a configuration. */
import { findRunning } from '../http/admin/running.ts'
import type { Settings } from '../http/admin/running.ts'
import { readServing } from '../http/admin/serving-file.ts'

/** What the running gateway answers at its admin address, wherever its data is; null when none does. */
export async function askRunning<T>(
  dir: string,
  gateway: Settings,
  ask: (admin: string) => Promise<T | null>,
): Promise<T | null> {
  const serving = readServing(gateway.dataDir)
  const answer = serving === null ? null : await ask(serving.admin)
  if (answer !== null) return answer
  const running = await findRunning(dir, gateway)
  return running === null ? null : ask(running.admin)
}
