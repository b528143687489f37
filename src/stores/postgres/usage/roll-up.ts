/**
 * Hours that are final are added up over nodes, into rows of node 0, one gateway at a time and a few accounts at a time. Each commit leaves all sums as
 * they were. A node's hours are final a day behind now, as far as it has said them to be complete (`upto`); it writes none of them any more (`rolled`).
 * Those behind that stay its own, also once it is forgotten: it may come back and report what is missing.
 */
import type { Postgres } from '../postgres.ts'
import { isLatency } from '../../sqlite/usage/columns.ts'
import { alone, ROLLED } from './partitions.ts'
import type { Rolled } from './partitions.ts'

/** Rows of one transaction, an account of one hour more or less. */
const AT_ONCE = 5_000
const DAY = 86_400

/** Does some of it; `now` in milliseconds. Returns whether there may be more. */
export async function rollUpNodes(postgres: Postgres, now: number): Promise<boolean> {
  const limit = Math.floor(now / 1000 / 3600) * 3600 - DAY
  const closed = await alone(postgres, async query => {
    // First of all: from then on no report writes what is moved.
    await query('UPDATE node SET rolled = least(upto, $1) WHERE rolled < least(upto, $1)', [limit])
    return true
  })
  if (closed === null) return false
  for (const rolled of ROLLED)
    for (const hour of await hoursOf(postgres, rolled)) await moveHour(postgres, rolled, hour)
  return true
}

/** Hours with rows that are final, and not moved. */
async function hoursOf(postgres: Postgres, { table }: Rolled): Promise<readonly number[]> {
  const rows = await postgres.query<{ hour: number }>(
    `SELECT DISTINCT u.hour FROM ${table} AS u JOIN node AS n ON n.no = u.node
     WHERE u.node <> 0 AND u.hour < n.rolled AND u.hour < (SELECT max(rolled) FROM node) ORDER BY 1 LIMIT 48`,
  )
  return rows.map(({ hour }) => hour)
}

async function moveHour(postgres: Postgres, { table, key, sums }: Rolled, hour: number): Promise<void> {
  const isFinal = `u.node <> 0 AND u.hour = $1 AND u.hour < n.rolled AND u.account > $2`
  for (let after = ''; ;) {
    const last = await alone(postgres, async query => {
      const [end] = await query<{ account: string | null }>(
        `SELECT max(account) AS account FROM (
           SELECT u.account FROM ${table} AS u JOIN node AS n ON n.no = u.node WHERE ${isFinal} ORDER BY u.account LIMIT ${AT_ONCE}
         ) AS batch`,
        [hour, after],
      )
      if (end?.account == null) return null
      const columns = [...key, ...sums].join(', ')
      await query(
        `WITH moved AS (DELETE FROM ${table} AS u USING node AS n WHERE u.node = n.no AND ${isFinal} AND u.account <= $3 RETURNING u.*)
         INSERT INTO ${table} AS o (hour, node, rev, ${columns})
         SELECT hour, 0, 0, ${key.join(', ')}, ${sums.map(sum => `sum(${sum})`).join(', ')} FROM moved GROUP BY hour, ${key.join(', ')}
         ORDER BY ${key.join(', ')}
         ON CONFLICT (${key.join(', ')}, hour, node) DO UPDATE SET ${sums.map(added).join(', ')}`,
        [hour, after, end.account],
      )
      return end.account
    })
    if (last === null) return
    after = last
  }
}

function added(sum: string): string {
  const value = (row: string): string => (isLatency(sum) ? `coalesce(${row}.${sum}, 0)` : `${row}.${sum}`)
  return `${sum} = ${value('o')} + ${value('excluded')}`
}
