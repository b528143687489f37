/** Asks the gateway that a command is about. */
import type { Grounds } from './data-dir.ts'

/** What the gateway on the data directory answers at its admin address, or else the one on the configuration; null when neither does. */
export async function askRunning<T>(
  grounds: Pick<Grounds, 'around'>,
  ask: (admin: string) => Promise<T | null>,
): Promise<T | null> {
  const { onData, onConfig } = await grounds.around()
  const answer = onData === null ? null : await ask(onData.admin)
  return answer ?? (onConfig === null ? null : ask(onConfig.admin))
}
