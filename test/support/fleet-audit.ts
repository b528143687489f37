/** Holds what PostgreSQL has of usage to what must be true of it, whatever fails. */
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Use, UseByMethod } from './client-ledger.ts'

/** Milliseconds between two moments at which they are read. */
const EVERY = 50

/** What is there at one moment. */
export interface Sums {
  readonly uses: UseByMethod
  /** Units of cost. */
  readonly requests: number
  /** Whether `usage`, `total` and `quota_window` agree, by endpoint and in all. */
  readonly agree: boolean
  /** Units of hours that are final by the calendar, and those of them that are added up over machines. */
  readonly past: number
  readonly rolledUp: number
}

type Row = Omit<Sums, 'uses'> & { readonly uses: Readonly<Record<string, Use>> }

/**
 * Whoever writes a row of a node is noted by the name of the connection, which is the machine's, with the node's epoch: one life of a process that reports
 * as it. Node 0 has what any machine adds up.
 */
const NOTE_WRITERS = `
  CREATE TABLE public.writer (node int, epoch bigint, name text, PRIMARY KEY (node, epoch, name));
  CREATE FUNCTION public.note_writer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.node <> 0 THEN
      INSERT INTO public.writer SELECT no, epoch, current_setting('application_name') FROM tollgate.node WHERE no = NEW.node
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
  END $$;
  ${['usage', 'refusal', 'total', 'quota_window']
    .map(
      table =>
        `CREATE TRIGGER note_writer AFTER INSERT OR UPDATE ON tollgate.${table} FOR EACH ROW EXECUTE FUNCTION public.note_writer();`,
    )
    .join('\n')}`

const FINAL = 'hour < extract(epoch FROM now()) - 2 * 86400'
const SUMS = `SELECT u.requests::float8 AS requests,
    (SELECT coalesce(jsonb_object_agg(method, use), '{}') FROM
      (SELECT method, jsonb_build_object('calls', sum(calls), 'requests', sum(requests)) AS use FROM usage GROUP BY 1) AS m) AS uses,
    u.requests = t.requests AND u.requests = w.requests AND u.calls = t.calls AND NOT EXISTS (
      SELECT account, endpoint, sum(calls), sum(requests) FROM usage GROUP BY 1, 2 HAVING sum(calls) > 0
      EXCEPT SELECT account, endpoint, sum(calls), sum(requests) FROM total GROUP BY 1, 2) AS agree,
    (SELECT coalesce(sum(requests), 0) FROM usage WHERE ${FINAL})::float8 AS past,
    (SELECT coalesce(sum(requests), 0) FROM usage WHERE ${FINAL} AND node = 0)::float8 AS "rolledUp"
  FROM (SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(requests), 0) AS requests FROM usage) AS u,
    (SELECT coalesce(sum(calls), 0) AS calls, coalesce(sum(requests), 0) AS requests FROM total) AS t,
    (SELECT coalesce(sum(requests), 0) AS requests FROM quota_window) AS w`

/** Reads PostgreSQL again and again, and remembers what was wrong. */
export class FleetAudit {
  /** All that was wrong. */
  readonly wrong: string[] = []
  /** How often it could be read. */
  reads = 0
  readonly #pool: pg.Pool
  readonly #most: () => number
  readonly #past: number
  readonly #reading: Promise<void>
  #isOver = false

  private constructor(pool: pg.Pool, past: number, most: () => number) {
    this.#pool = pool
    this.#past = past
    this.#most = most
    this.#reading = this.#read()
  }

  /**
   * Begins on tables that nobody has written to yet. `past` units are charged in hours that are final, and `most()` in all, at most, by the time that it
   * is called.
   */
  static async begin(url: string, past: number, most: () => number): Promise<FleetAudit> {
    const options = '-c search_path=tollgate'
    const pool = new pg.Pool({ connectionString: url, options, max: 2, connectionTimeoutMillis: 1_000 })
    pool.on('error', () => undefined)
    await pool.query(NOTE_WRITERS)
    return new FleetAudit(pool, past, most)
  }

  /** What PostgreSQL has now; rejects while it is away. */
  async sums(): Promise<Sums> {
    const { rows } = await this.#pool.query<Row>(SUMS)
    const [row] = rows as [Row]
    return { ...row, uses: new Map(Object.entries(row.uses)) }
  }

  /** Nodes whose rows more than one machine has written at a time. */
  async shared(): Promise<readonly unknown[]> {
    const sql =
      'SELECT node, epoch, array_agg(name) AS names FROM public.writer GROUP BY 1, 2 HAVING count(*) > 1'
    return (await this.#pool.query<object>(sql)).rows
  }

  async close(): Promise<void> {
    this.#isOver = true
    await this.#reading
    await this.#pool.end()
  }

  async #read(): Promise<void> {
    let last = { requests: 0, past: 0 }
    while (!this.#isOver) {
      await pause(EVERY)
      const sums = await this.sums().catch(() => null)
      if (sums === null) continue
      this.reads += 1
      const { requests, agree, past } = sums
      if (!agree) this.wrong.push('tables differ')
      if (requests < last.requests) this.wrong.push(`${last.requests} units, then ${requests}`)
      if (requests > this.#most()) this.wrong.push(`${requests} units of at most ${this.#most()}`)
      if (past < last.past || past > this.#past)
        this.wrong.push(`${last.past} units of the past, then ${past}, of ${this.#past}`)
      last = sums
    }
  }
}
