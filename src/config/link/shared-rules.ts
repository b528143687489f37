import type { Finding } from '../finding.ts'
import type { Row } from './rows.ts'

/** Rules that say share: true, and are never shared. */
export function checkShare({ file, path, rule, whole }: Row): Finding[] {
  // A value that was dropped as invalid has its problem already.
  if (rule.share !== true || ('retry' in whole && whole.retry === undefined)) return []
  if (whole.retry === 'safe' && whole.sticky === undefined) return []
  return [
    {
      file,
      path: [...path, 'share'],
      at: 'value',
      message: 'only calls with retry: safe and without sticky are shared',
      hint: 'remove it',
    },
  ]
}
