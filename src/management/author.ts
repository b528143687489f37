import type { Author } from '../ports/audit.ts'
import type { AccountCaller } from './types.ts'

/** Whom the audit trail names: an owner by the key that was used, or by the dashboard. */
export function authorOf({ endpoint, by }: AccountCaller): Author {
  return by ?? { actor: `owner:${endpoint?.id ?? 'dashboard'}` }
}
