import { actorForOwner } from '../ports/audit.ts'
import type { AuditEntry, Members } from '../ports/audit.ts'
import { entries, time } from './checks.ts'
import { readParams } from './params.ts'
import type { AccountCaller, ServiceDeps, ServiceReply } from './types.ts'

/** How many entries there are where nothing is said. */
const USUAL = 20
/** What the operator notes about an account is theirs. */
const NOTES: ReadonlySet<string> = new Set(['externalId', 'email', 'labels'])

/** service_audit {from?, to?, before?, limit?}: who changed what of the account, newest first; `next` is the `before` of the entries that follow. */
export async function showAudit(
  params: unknown,
  { account }: AccountCaller,
  { audit }: ServiceDeps,
): Promise<ServiceReply> {
  const read = readParams(params, {}, { from: time, to: time, before: time, limit: entries })
  if ('error' in read) return read
  const { from = null, to = null, before = null, limit = USUAL } = read.values
  const page = await audit.read({ from, to, before, limit, actor: null, target: account.id })
  return { result: { entries: page.entries.map(shown), next: page.next } }
}

function shown({ at: time, actor, action, target, before, after }: AuditEntry) {
  const own = (members: Members | null) => (action.startsWith('account.') ? ownMembers(members) : members)
  return { time, actor: actorForOwner(actor), action, target, before: own(before), after: own(after) }
}

function ownMembers(members: Members | null): Members | null {
  return members && Object.fromEntries(Object.entries(members).filter(([name]) => !NOTES.has(name)))
}
