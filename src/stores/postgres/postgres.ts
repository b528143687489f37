/** The connections to PostgreSQL. `pg` is loaded when this is: only where gateway.yaml has `postgres`. */
import { Socket } from 'node:net'
import pg from 'pg'
import type { PostgresConfig } from '../../config/fleet.ts'
import { orAfter } from '../../net/or-after.ts'
import { StoreUnavailable } from '../../ports/store-unavailable.ts'

/** One statement with its values, in a transaction or by itself. */
export type Query = <Row extends object = Record<string, unknown>>(
  sql: string,
  values?: readonly unknown[],
) => Promise<Row[]>

/** How a transaction is run. */
export interface TransactionOptions {
  /** Read-only, on one snapshot. */
  readonly isSnapshot?: boolean
  /** `performance.now()` at which it is given up, whatever it waits for. */
  readonly deadline?: number
}

/** Milliseconds for an orderly end of connections: across a partition they would never close. */
const GOODBYE = 500

/** Whole numbers of PostgreSQL (bigint) are numbers here: none of ours is above 2^53. */
const types = new pg.TypeOverrides()
types.setTypeParser(pg.types.builtins.INT8, Number)

/**
 * Some connections to one database, and to one schema in it. Each failure to reach it, or to be answered in time, rejects with StoreUnavailable; what
 * the database itself says of a statement is passed on.
 */
export class Postgres {
  readonly #pool: pg.Pool
  readonly #config: PostgresConfig
  /** Of the pool's connections. */
  readonly #sockets = new Set<Socket>()

  /** `isOurs`: asked over each connection before anything else; where it says false, nothing is sent over it. */
  constructor(config: PostgresConfig, isOurs: ((query: Query) => Promise<boolean>) | null = null) {
    this.#config = config
    const { url, pool, timeout, schema } = config
    this.#pool = new pg.Pool({
      connectionString: url,
      max: pool,
      connectionTimeoutMillis: timeout,
      query_timeout: timeout,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      application_name: 'tollgate',
      stream: () => {
        const socket = new Socket()
        this.#sockets.add(socket)
        return socket.once('close', () => this.#sockets.delete(socket))
      },
      // pg_temp last: nobody's temporary table stands in for one of ours.
      options: `-c search_path=${schema},pg_temp`,
      types,
      ...(isOurs !== null && { verify: (client, done) => void verify(client, isOurs).then(done) }),
    })
    // An idle connection that ends is replaced by the next query.
    this.#pool.on('error', () => undefined)
  }

  get schema(): string {
    return this.#config.schema
  }

  /** Runs one statement. */
  query: Query = async <Row extends object>(sql: string, values: readonly unknown[] = []): Promise<Row[]> => {
    try {
      return (await this.#pool.query<Row & pg.QueryResultRow>(sql, [...values])).rows
    } catch (error) {
      throw explain(error)
    }
  }

  /**
   * Runs `work` in one transaction, all or nothing. When the connection is lost during the commit, nobody knows whether it was: the error says so
   * (`isUnknown`).
   */
  async transaction<T>(
    work: (query: Query) => Promise<T>,
    { isSnapshot = false, deadline = Infinity }: TransactionOptions = {},
  ): Promise<T> {
    const client = await this.#connect(deadline)
    let broken: unknown
    const run = async (
      sql: string,
      values: readonly unknown[] = [],
      isCommit = false,
    ): Promise<unknown[]> => {
      const left = deadline - performance.now()
      // Before it was sent: nothing is unknown.
      if (left <= 0) throw new StoreUnavailable('PostgreSQL does not answer in time')
      const asked = { text: sql, values: [...values], query_timeout: Math.min(this.#config.timeout, left) }
      try {
        return (await client.query<pg.QueryResultRow>(asked)).rows
      } catch (error) {
        throw explain(error, isCommit)
      }
    }
    // Without a listener a connection that is lost between two statements ends the process.
    const lost = (error: unknown): void => {
      broken = error
    }
    client.on('error', lost)
    try {
      await run(isSnapshot ? SNAPSHOT : locking(this.#config.timeout))
      const result = await work(
        <Row extends object>(sql: string, values: readonly unknown[] = []) =>
          run(sql, values) as Promise<Row[]>,
      )
      await run('COMMIT', [], true)
      return result
    } catch (error) {
      // What the work itself threw is not about the connection.
      if (error instanceof StoreUnavailable) broken ??= error
      else await client.query('ROLLBACK').catch((failure: unknown) => (broken = failure))
      throw error
    } finally {
      client.off('error', lost)
      client.release(broken === undefined ? undefined : true)
    }
  }

  /** A connection of the pool; one that comes after the deadline goes back there. */
  async #connect(deadline: number): Promise<pg.PoolClient> {
    const connecting = this.#pool.connect()
    const left = deadline - performance.now()
    if (left === Infinity)
      return connecting.catch((error: unknown) => Promise.reject(explain(error) as Error))
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => {
          reject(new StoreUnavailable('PostgreSQL cannot be reached in time'))
          connecting.then(
            client => {
              client.release()
            },
            () => undefined,
          )
        },
        Math.max(0, left),
      )
    })
    try {
      return await Promise.race([connecting, late])
    } catch (error) {
      throw explain(error)
    } finally {
      clearTimeout(timer)
    }
  }

  /** A connection of its own that hears `channel`; `lost` is called once when it is gone. Returns how to close it. */
  async listen(
    channel: string,
    heard: (payload: string) => void,
    lost: () => void,
  ): Promise<() => Promise<void>> {
    const { url, timeout } = this.#config
    const socket = new Socket()
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: timeout,
      query_timeout: timeout,
      keepAlive: true,
      stream: () => socket,
      application_name: 'tollgate',
    })
    let isOver = false
    const over = (): void => {
      if (!isOver) lost()
      isOver = true
    }
    const end = async (): Promise<void> => {
      isOver = true
      client.end().catch(() => undefined)
      await ended([socket])
    }
    client.on('error', over)
    client.on('end', over)
    client.on('notification', ({ payload }) => {
      heard(payload ?? '')
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)
    } catch (error) {
      await end()
      throw explain(error)
    }
    return end
  }

  async close(): Promise<void> {
    await this.#pool.end()
    await ended([...this.#sockets])
  }
}

/** Why a new connection is not used; undefined where it may be. */
async function verify(
  client: pg.PoolClient,
  isOurs: (query: Query) => Promise<boolean>,
): Promise<Error | undefined> {
  const query: Query = async <Row extends object>(sql: string, values: readonly unknown[] = []) =>
    (await client.query<Row & pg.QueryResultRow>(sql, [...values])).rows
  try {
    return (await isOurs(query)) ? undefined : new StoreUnavailable(NOT_OURS)
  } catch (error) {
    return error as Error
  }
}

/** Said of a PostgreSQL that another installation has, or nobody. */
export const NOT_OURS =
  'PostgreSQL does not hold the accounts that this machine has a copy of: it is another database, or an empty one'

const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

/**
 * Begins a transaction that may hold locks. If its gateway stops or is cut off midway, PostgreSQL ends it, so that neither other gateways nor the same
 * one after its return wait for those locks for long.
 */
function locking(timeout: number): string {
  return `BEGIN; SET LOCAL lock_timeout = ${timeout}; SET LOCAL idle_in_transaction_session_timeout = ${timeout * 2}`
}

/** Resolves once all sockets are closed; destroys those that do not close in time. */
async function ended(sockets: readonly Socket[]): Promise<void> {
  const closed = sockets
    .filter(socket => !socket.closed)
    .map(socket => new Promise(resolve => socket.once('close', resolve)))
  await orAfter(
    Promise.all(closed).then(() => undefined),
    GOODBYE,
  )
  for (const socket of sockets) socket.destroy()
}

/**
 * Classes and codes of SQLSTATE that are about the server and not about the statement: it starts, stops, has too many connections, may only be read, timed
 * out, rejects this user, or lacks the database or its tables, as during a restore.
 */
const ABOUT_SERVER = /^(08|28|53|57|58|25006|25P03|55000|55P03|40|3D000|3F000|42501|42P01)/
const DENIED = /^(28|42501)/

/** StoreUnavailable where it is about the way to the database; the error itself where the database judged a statement. */
function explain(error: unknown, isCommitting = false): unknown {
  if (error instanceof StoreUnavailable) return error
  if (isJudged(error)) return error
  const why = error instanceof Error ? error.message : String(error)
  return new StoreUnavailable(`PostgreSQL cannot be reached: ${why}`, {
    isUnknown: isCommitting,
    cause: error,
  })
}

/** Whether the database has judged a statement, rather than being away. */
export function isJudged(error: unknown): boolean {
  return error instanceof pg.DatabaseError && !ABOUT_SERVER.test(error.code ?? '')
}

/** Whether the database does not let this user in, or not do what a gateway does: it is there, and waiting does not help. */
export function isDenied({ cause }: StoreUnavailable): boolean {
  return cause instanceof pg.DatabaseError && DENIED.test(cause.code ?? '')
}
