/** What joins several processes, and several gateways (fleet, section 8.1), as the configuration has it. Durations in milliseconds. */

/** The processes that serve calls. */
export interface WorkersConfig {
  /** 1 starts no further process. */
  readonly count: number
  /** Who takes a connection: whoever is free first, or one after another. */
  readonly balance: 'accept' | 'roundRobin'
}

/** Where accounts and usage of all gateways are kept. */
export interface PostgresConfig {
  /** Holds a password: never logged, never shown. */
  readonly url: string
  readonly schema: string
  /** Connections at most. */
  readonly pool: number
  /** For a connection, and for a query. */
  readonly timeout: number
  /** Between two reports of usage. */
  readonly spool: number
  /** How long known keys are served without it; null is for ever. */
  readonly accountsMaxAge: number | null
}

/** What a gateway gives callers while the limits of all cannot be reached: its part by traffic, an equal share, or nothing. */
export const AWAY = ['part', 'share', 'closed'] as const

/** Where rates, quotas and what callers hold are counted for all gateways. */
export interface RedisConfig {
  /** More than one for a cluster. They hold passwords: never logged, never shown. */
  readonly url: readonly string[]
  /** What all keys begin with. */
  readonly prefix: string
  /** For an answer. */
  readonly timeout: number
  /** Between two reports of what was taken. */
  readonly sync: number
  readonly away: (typeof AWAY)[number]
}

/** This gateway among others. */
export interface NodeConfig {
  /** How `tollgate nodes` calls it; null is as its host. */
  readonly name: string | null
}
