/** The PostgreSQL of a configuration, for commands about the gateways that share it. */
import type { PostgresConfig } from '../../config/fleet.ts'
import type { Snapshot } from '../../snapshot/types.ts'
import type { Postgres } from '../../stores/postgres/postgres.ts'
import type { Io } from '../command.ts'
import { loadOrThrow } from '../load.ts'

/** A configuration with `postgres`. */
export interface Fleet {
  readonly postgres: Postgres
  readonly config: PostgresConfig
  readonly snapshot: Snapshot
}

/** Connects for as long as `work` takes. Throws one sentence where nothing is shared, or PostgreSQL is away. */
export async function withFleet<T>(dir: string, io: Io, work: (fleet: Fleet) => Promise<T>): Promise<T> {
  const snapshot = await loadOrThrow(dir, io)
  const config = snapshot.gateway.postgres
  if (config === null)
    throw new Error('gateway.yaml has no postgres: this gateway shares its usage with no other')
  const { Postgres } = await import('../../stores/postgres/postgres.ts')
  const { openSchema } = await import('../../stores/postgres/schema.ts')
  const postgres = new Postgres(config)
  try {
    await openSchema(postgres)
    return await work({ postgres, config, snapshot })
  } finally {
    await postgres.close()
  }
}
