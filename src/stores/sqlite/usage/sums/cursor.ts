/** Cursors of pages: where one ended, tied to its query and account. */
import { createHash } from 'node:crypto'
import type { GroupValues, SumsQuery } from '../../../../ports/ledger.ts'

/** Longer ones are none of ours: an id, a slug and a method name at their longest fit well. */
const MAX_LENGTH = 1_000
/** Characters of the digest. */
const DIGEST = 16

/** What a cursor says. */
export interface Continued {
  readonly from: number
  readonly to: number
  readonly after: GroupValues
}

/** The cursor behind the last row of a page. */
export function makeCursor(query: SumsQuery, last: GroupValues): string {
  const text = Buffer.from(JSON.stringify([query.from, query.to, ...last])).toString('base64url')
  return `${digestOf(query, text)}${text}`
}

/** What the cursor of an earlier page of this query says; null for any other text. */
export function readCursor(
  cursor: string,
  query: Omit<SumsQuery, 'from' | 'to' | 'after'>,
): Continued | null {
  const text = cursor.slice(DIGEST)
  if (cursor.length > MAX_LENGTH || digestOf(query, text) !== cursor.slice(0, DIGEST)) return null
  const values = listOf(Buffer.from(text, 'base64url').toString())
  const types = [
    'number',
    'number',
    ...query.groupBy.map(column => (column === 'time' ? 'number' : 'string')),
  ]
  if (values.length !== types.length || values.some((value, i) => typeof value !== types[i])) return null
  const [from, to, ...after] = values as [number, number, ...GroupValues]
  return { from, to, after }
}

function listOf(json: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(json)
    return Array.isArray(value) ? value : []
  } catch {
    return []
  }
}

/** It needs no secret: a forged one reads the same account's rows. It finds what was mangled or belongs to another query. */
function digestOf(query: Omit<SumsQuery, 'from' | 'to' | 'after'>, text: string): string {
  const { accountId, endpointId, network, method, by, groupBy, detail } = query
  const asked = [accountId, endpointId, network, method, by, groupBy, detail, text]
  const hash = createHash('sha256').update(JSON.stringify(asked))
  return hash.digest('base64url').slice(0, DIGEST)
}
