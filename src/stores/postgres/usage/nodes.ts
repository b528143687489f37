/** The gateways of a fleet, as they report to PostgreSQL. */
import type { Postgres, Query } from '../postgres.ts'
import type { NodeRow } from '../../sqlite/usage/reports/changes.ts'

/** Seconds behind the end of an hour after which nothing more comes to it, a call given back late apart. */
const SETTLED = 120

/** What a gateway says of itself. */
export interface NodeState {
  readonly name: string
  readonly version: string
  readonly sharedVersion: string
  /** What else `tollgate nodes` shows. */
  readonly info: NodeInfo
}

/** Ages in seconds; null where it is not known. */
export interface NodeInfo {
  readonly spoolLagSeconds: number
  readonly accountsAgeSeconds: number | null
  readonly clockSkewSeconds: number | null
  readonly fenced: boolean
  /** When the configuration was last loaded, in Unix seconds, and whether the last reload was taken. */
  readonly reload: { readonly at: number; readonly ok: boolean } | null
}

/** A gateway as it was last seen. */
export interface SeenNode extends NodeState {
  readonly id: string
  /** Unix seconds. */
  readonly seenAt: number
  /** Seconds since then, by PostgreSQL's clock. */
  readonly age: number
  /** The id of the newest gateway of the same name that has started since; null where there is none, and within 15 s after `seenAt`. */
  readonly supersededBy: string | null
}

/** Seconds without a sign of life after which another gateway of the same name has taken the place of one. */
const SILENT = 15

/** SQL: the newest gateway `m` that took the place of `n`, as a machine that lost its journal is another one under its old name. */
const SUPERSEDING = `SELECT m.id FROM node AS m
  WHERE n.seen_at < now() - interval '${SILENT} s' AND m.name = n.name AND m.id <> n.id AND m.started_at > n.seen_at
    AND NOT m.forgotten ORDER BY m.started_at DESC LIMIT 1`

/** How a claim ended: the new epoch and the last whole report that PostgreSQL has; or that it is not ours. */
export type Claimed = { readonly epoch: number; readonly rev: number } | 'taken'

/**
 * Begins to report as a node. It is taken where another process has begun since (it has a higher epoch), or where PostgreSQL has reports that this ledger
 * did not make: it was copied, or put back from a backup.
 */
export function claimNode(
  postgres: Postgres,
  node: Pick<NodeRow, 'id' | 'epoch' | 'rev' | 'acked' | 'claim'>,
  claim: string,
  { name, version, sharedVersion, info }: NodeState,
): Promise<Claimed> {
  return postgres.transaction(async query => {
    const [known] = await query<{ epoch: number; rev: number; claim: string | null }>(
      'SELECT epoch, rev, claim FROM node WHERE id = $1 FOR UPDATE',
      [node.id],
    )
    const said = [name, version, sharedVersion, JSON.stringify(info)]
    if (known === undefined) {
      // One that has reported before was in a database that is gone: all of it is missing.
      const rev = node.epoch === 0 ? node.acked : 0
      const epoch = node.epoch + 1
      await query(
        `INSERT INTO node (id, epoch, rev, claim, started_at, seen_at, name, version, shared_version, info)
         VALUES ($1, $2, $3, $4, now(), now(), $5, $6, $7, $8)`,
        [node.id, epoch, rev, claim, ...said],
      )
      return { epoch, rev }
    }
    // Claims whose answers were lost: until a report follows, the last of them is there.
    const isOurs = node.claim !== null && known.claim === node.claim
    if ((known.epoch > node.epoch && !isOurs) || known.rev >= node.rev) return 'taken'
    const epoch = Math.max(known.epoch, node.epoch) + 1
    await query(
      `UPDATE node SET epoch = $2, claim = $3, started_at = now(), seen_at = now(), forgotten = false, name = $4, version = $5,
         shared_version = $6, info = $7 WHERE id = $1`,
      [node.id, epoch, claim, ...said],
    )
    return { epoch, rev: known.rev }
  })
}

/** Whether PostgreSQL has all that was acknowledged, and nobody else has reported as the node since. */
export async function hasReported(
  postgres: Pick<Postgres, 'query'>,
  { id, epoch, acked, fenced }: Pick<NodeRow, 'id' | 'epoch' | 'acked' | 'fenced'>,
): Promise<boolean> {
  // One that never had anything to report needs nobody who knows it.
  if (epoch === 0 && acked === 0) return true
  const sql = 'SELECT 1 FROM node WHERE id = $1 AND epoch = $2 AND rev >= $3'
  return fenced === 0 && (await postgres.query(sql, [id, epoch, acked])).length > 0
}

/** What a report is written with. */
export interface Fence {
  readonly no: number
  /** The hour before which the node's rows are final. */
  readonly rolled: number
}

/**
 * Holds the node's row for a report: nobody else writes rows of the node meanwhile. `taken` where another process reports as the node, `behind` where
 * PostgreSQL is older than what it had acknowledged.
 */
export async function fence(
  query: Query,
  { id, epoch, acked }: Pick<NodeRow, 'id' | 'epoch' | 'acked'>,
): Promise<Fence | 'taken' | 'behind'> {
  const [row] = await query<Fence & { epoch: number; rev: number }>(
    'SELECT no, rolled, epoch, rev FROM node WHERE id = $1 FOR UPDATE',
    [id],
  )
  if (row === undefined) return 'behind'
  if (row.epoch > epoch) return 'taken'
  return row.epoch < epoch || row.rev < acked ? 'behind' : row
}

/** The hour before which nothing more comes, in Unix seconds. */
export function settledHour(now: number): number {
  return Math.floor((now / 1000 - SETTLED) / 3600) * 3600
}

/** Ends a report: PostgreSQL has all of it, in this transaction. */
export async function reported(
  query: Query,
  id: string,
  { rev, upto }: { readonly rev: number; readonly upto: number },
): Promise<void> {
  await query(
    'UPDATE node SET rev = $2, upto = greatest(upto, $3), seen_at = now(), forgotten = false, claim = NULL WHERE id = $1',
    [id, rev, upto],
  )
}

/** What PostgreSQL answers to a sign of life. */
export interface Seen {
  /** Whether this gateway is still the one that reports as the node. */
  readonly isThere: boolean
  /** PostgreSQL's clock, in Unix milliseconds. */
  readonly now: number
  /** The id of another gateway of the same name, which started before this one and was seen since; null where there is none. */
  readonly namesake: string | null
}

/** Says that this gateway is there. */
export async function seen(
  postgres: Pick<Postgres, 'query'>,
  { id, epoch }: Pick<NodeRow, 'id' | 'epoch'>,
  { name, version, sharedVersion, info }: NodeState,
  upto: number,
): Promise<Seen> {
  const [row] = await postgres.query<{ there: number; now: number; namesake: string | null }>(
    `WITH seen AS (UPDATE node SET seen_at = now(), forgotten = false, name = $3, version = $4, shared_version = $5, info = $6,
       upto = greatest(upto, $7) WHERE id = $1 AND epoch = $2 RETURNING started_at)
     SELECT (SELECT count(*) FROM seen)::int AS there, (extract(epoch FROM clock_timestamp()) * 1000)::float8 AS now,
       (SELECT n.id FROM node AS n, seen WHERE n.name = $3 AND n.id <> $1 AND n.started_at < seen.started_at
         AND n.seen_at > seen.started_at AND NOT n.forgotten ORDER BY n.id LIMIT 1) AS namesake`,
    [id, epoch, name, version, sharedVersion, JSON.stringify(info), upto],
  )
  return { isThere: row?.there === 1, now: row?.now ?? 0, namesake: row?.namesake ?? null }
}

/** All that were not forgotten, by name. */
export async function listNodes(postgres: Postgres): Promise<readonly SeenNode[]> {
  return postgres.query<SeenNode>(
    `SELECT name, id, version, shared_version AS "sharedVersion", extract(epoch FROM seen_at)::float8 AS "seenAt",
       extract(epoch FROM now() - seen_at)::float8 AS age, info, (${SUPERSEDING}) AS "supersededBy"
     FROM node AS n WHERE NOT forgotten ORDER BY name, id`,
  )
}

/** No longer lists those that are superseded; returns their ids. */
export async function forgetSuperseded(postgres: Postgres): Promise<readonly string[]> {
  const rows = await postgres.query<{ id: string }>(
    `UPDATE node AS n SET forgotten = true WHERE NOT forgotten AND EXISTS (${SUPERSEDING}) RETURNING n.id`,
  )
  return rows.map(({ id }) => id)
}

/** No longer lists a gateway that does not come back. False where there is none of this id. One that lives is back at once, with all that it had not reported. */
export async function forgetNode(postgres: Postgres, id: string): Promise<boolean> {
  const rows = await postgres.query('UPDATE node SET forgotten = true WHERE id::text = $1 RETURNING 1', [id])
  return rows.length > 0
}
