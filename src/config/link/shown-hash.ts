import type { Finding } from '../finding.ts'
import type { Row } from './rows.ts'

/** The hash of an answer is compared with the one that the call names, and `block` says where it does. */
export function checkHash({ file, path, rule: { is }, whole }: Row): Finding[] {
  // A `block` that was dropped as invalid has its problem already.
  if (is === undefined || is === 'none' || 'block' in whole) return []
  const message = 'nothing says where a call names the hash that its answer repeats'
  return [{ file, path: [...path, 'is'], at: 'key', message, hint: 'write block, or remove it' }]
}
