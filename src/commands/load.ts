/** The configuration as commands need it. */
import { ConfigError } from '../config/config-error.ts'
import { loadSnapshot } from '../snapshot/load-snapshot.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Io } from './command.ts'

/** The snapshot of a directory; throws ConfigError with all its problems. */
export async function loadOrThrow(dir: string, { env }: Io): Promise<Snapshot> {
  const { snapshot, problems } = await loadSnapshot(dir, env)
  if (snapshot === null) throw new ConfigError(problems)
  return snapshot
}
