/** Asks the gateway that a command is about. */
import type { Grounds } from './data-dir.ts'

/** The JSON that an admin path answers; null where nobody does, or not within `patience` milliseconds. */
export async function postAdmin<T>(
  admin: string,
  path: string,
  body: object,
  patience: number,
): Promise<T | null> {
  try {
    const response = await fetch(`http://${admin}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patience),
    })
    return response.ok ? ((await response.json()) as T) : null
  } catch {
    return null
  }
}

/** What the gateway on the data directory answers at its admin address, or else the one on the configuration; null when neither does. */
export async function askRunning<T>(
  grounds: Pick<Grounds, 'around'>,
  ask: (admin: string) => Promise<T | null>,
): Promise<T | null> {
  const { onData, onConfig } = await grounds.around()
  const answer = onData === null ? null : await ask(onData.admin)
  return answer ?? (onConfig === null ? null : ask(onConfig.admin))
}
