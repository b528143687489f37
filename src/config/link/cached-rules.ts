import type { Finding } from '../finding.ts'
import type { Row } from './rows.ts'

/** What makes an answer one caller's own. */
const OWN = ['answer', 'subscribe', 'sticky'] as const

/** Rules whose answers may not be kept, or of which nobody could say when they are final. */
export function checkCache({ file, path, rule, whole }: Row): Finding[] {
  const { cache = [] } = whole
  // A value that was dropped as invalid has its problem already.
  if (cache.length === 0 || ('retry' in whole && whole.retry === undefined)) return []
  // A network's own rule is judged as it acts, and named where the key stands.
  const at = rule.cache === undefined ? path : [...path, 'cache']
  const finding = (message: string, hint: string): Finding[] => [
    { file, path: at, at: rule.cache === undefined ? 'key' : 'value', message, hint },
  ]
  const own = OWN.find(key => whole[key] !== undefined)
  if (own !== undefined) return finding(`the answers of a rule with "${own}" cannot be kept`, NOT_KEPT)
  if (whole.retry !== 'safe') return finding('only answers of methods with retry: safe can be kept', NOT_KEPT)
  if (!cache.includes('final') || whole.block !== undefined || whole.shows !== undefined) return []
  return finding(
    'nothing says which block its answers are about',
    'write block or shows, or cache: [fixed] where they depend on the params alone',
  )
}

const NOT_KEPT = 'write cache: []'
