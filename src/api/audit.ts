/** The audit trail over HTTP. */
import { noCursor } from './accounts.ts'
import { FIELDS, limitOf } from './fields.ts'
import { operation } from './operation.ts'
import { makeCursor, readCursor } from './page.ts'

/** The operations on the audit trail. */
export const auditOperations = [
  operation({
    method: 'GET',
    path: '/v1/audit',
    id: 'listAudit',
    scope: 'audit:read',
    reply: 'AuditPage',
    summary:
      'Lists who changed what, newest first; the target of an account finds its endpoints, too. A page has fewer entries than `limit` where they are long: go on until the cursor is null',
    query: {
      from: FIELDS.time,
      to: FIELDS.time,
      actor: FIELDS.text,
      target: FIELDS.text,
      limit: FIELDS.limit,
      cursor: FIELDS.cursor,
    },
    async run({ query }, { audit }) {
      const { from = null, to = null, actor = null, target = null, cursor } = query
      const limit = limitOf(query.limit)
      const after = cursor === undefined ? null : readCursor(cursor, 'audit')
      if (after === undefined || (after !== null && !/^\d{1,15}$/.test(after))) return noCursor()
      const before = after === null ? null : Number(after)
      const { entries, next } = await audit.read({ from, to, actor, target, before, limit })
      const items = entries.map(({ at: time, actor, action, target, accountId, before, after }) => ({
        time,
        actor,
        action,
        target,
        accountId,
        before,
        after,
      }))
      return { json: { items, cursor: next === null ? null : makeCursor('audit', String(next)) } }
    },
  }),
]
