import type { Finding } from '../finding.ts'
import type { Row } from './rows.ts'

/** What makes an answer one caller's own. */
const OWN = ['answer', 'subscribe', 'sticky'] as const

/** Rules whose answers may not be kept, or of which nothing ever would be. */
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
  const { block, shows } = whole
  if (block === undefined)
    return cache.includes('final')
      ? finding(
          'nothing says which block a call asks for, so no answer is known to be final',
          'write block: { at: 0, kind: hash } or as the params name it, or cache: [fixed] where they alone decide',
        )
      : []
  if (block.kind !== 'hash' && block.kind !== 'txhash') return []
  if (cache.includes('tip'))
    return finding('a block that is named by a hash does not move with the head', 'leave tip out')
  return cache.includes('final') && shows === undefined
    ? finding('nothing says which number the block has that a hash names', 'write shows')
    : []
}

const NOT_KEPT = 'write cache: []'
