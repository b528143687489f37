/** The audit trail in words. */
import type { AuditEntry } from '../api/types.ts'
import { figure } from './figure.ts'
import { labelTexts } from './labels.ts'
import { stepName } from './time.ts'

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

/** Members of an endpoint as its page calls them. */
const MEMBERS: Readonly<Record<string, string>> = {
  allowedOrigins: 'allowed origins',
  allowedIps: 'allowed addresses',
  management: 'may manage the account',
  perSecond: 'requests a second',
  dailyLimit: 'requests a day',
  expiresAt: 'key expires',
  oldKeyExpiresAt: 'old key ends',
}

/** From what to what, such as "name: a → b"; empty where nothing is known. */
export function changeOf({ before, after }: AuditEntry): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  return names
    .map(name => [MEMBERS[name] ?? name, shown(name, before?.[name]), shown(name, after?.[name])] as const)
    .map(([name, from, to]) => (from === '' ? `${name}: ${to}` : `${name}: ${from} → ${to}`))
    .join('; ')
}

function shown(name: string, value: unknown): string {
  if (value === undefined) return ''
  if (value === null) return name === 'oldKeyExpiresAt' ? 'at once' : 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') return /expiresAt$/i.test(name) ? stepName(value, 'hour') : figure(value)
  if (Array.isArray(value)) return value.join(', ')
  if (typeof value === 'string') return value
  return labelTexts(value as Readonly<Record<string, string>>).join(', ') || 'none'
}
