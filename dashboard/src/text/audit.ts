/** The audit trail in words. */
import type { AuditEntry } from '../api/types.ts'

const ACTIONS: Readonly<Record<string, string>> = {
  'account.created': 'Account created',
  'account.changed': 'Account changed',
  'account.suspended': 'Account suspended',
  'account.resumed': 'Account resumed',
  'account.token_rotated': 'Dashboard token replaced',
  'endpoint.created': 'Endpoint created',
  'endpoint.changed': 'Endpoint changed',
  'endpoint.deleted': 'Endpoint deleted',
  'endpoint.moved': 'Endpoint moved to another network',
  'key.rotated': 'Key rotated',
  'webhook.changed': 'Alerts changed',
}

/** What happened. */
export const actionName = ({ action }: AuditEntry): string => ACTIONS[action] ?? action

/** Who did it; `nameOf` gives an endpoint's name. */
export function actorName({ actor }: AuditEntry, nameOf: (endpointId: string) => string): string {
  if (actor === 'operator') return 'your provider'
  if (actor === 'gateway') return 'the service'
  if (actor === 'owner:dashboard') return 'an owner, here'
  if (actor === 'owner:many') return 'owners, many times'
  return `the key of ${nameOf(actor.replace('owner:', ''))}`
}

/** From what to what, such as "name: a → b"; empty where nothing is known. */
export function changeOf({ before, after }: AuditEntry): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const show = (value: unknown): string =>
    value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)
  return names
    .map(name => [name, show(before?.[name]), show(after?.[name])] as const)
    .map(([name, from, to]) => (from === '' ? `${name}: ${to}` : `${name}: ${from} → ${to}`))
    .join('; ')
}
