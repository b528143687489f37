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
  perSecond: 'request units a second',
  dailyLimit: 'request units a day',
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
  if (typeof value === 'string') return isolated(value)
  if (isBrief(value)) return briefly(value)
  return isolated(labelTexts(value as Readonly<Record<string, string>>).join(', ')) || 'none'
}

/** What is kept of a long list: how many it holds, and some of those that went or came. */
interface Brief {
  readonly count: number
  readonly added?: readonly string[]
  readonly removed?: readonly string[]
  readonly more?: number
}

/** Labels are texts, also one that is called like a member of this. */
const isBrief = (value: unknown): value is Brief => typeof (value as Partial<Brief>).count === 'number'

function briefly({ count, added = [], removed = [], more = 0 }: Brief): string {
  const differ = [...added, ...removed]
  const others = more === 0 ? '' : ` and ${figure(more)} more`
  const which = added.length > 0 ? 'new' : 'gone'
  return `${figure(count)} in all${differ.length === 0 ? '' : `, ${which}: ${isolated(differ.join(', '))}${others}`}`
}

/** A text that is written from right to left must not turn the arrow between two of them around. */
const isolated = (text: string): string => (RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text)

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u
