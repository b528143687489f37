import { KINDS, NO_ROUTE } from '../kinds.ts'
import type { Finding } from '../finding.ts'
import { listed, show } from '../words/show.ts'
import { suggester } from '../words/suggest.ts'
import type { Partly, RawConfig } from '../raw-config.ts'
import { capabilitiesIn } from './capabilities.ts'
import { mayLack } from './gaps.ts'
import type { Row } from './rows.ts'

/** The words of `acknowledge` that no warning has as its kind: they would silence nothing, and nobody would notice. */
export function checkAcknowledged(written: Partly<RawConfig>, rows: readonly Row[]): Finding[] {
  const lacks = ['ws', 'denied', ...capabilitiesIn(rows)]
  const allNeeds = written.methods?.families !== undefined && !mayLack(written, 'needs')
  const faultOf = (word: string): Pick<Finding, 'message' | 'hint'> | null => {
    const message = `${show(word)} is not a known kind of warning`
    if (word.startsWith(NO_ROUTE)) {
      const lack = word.slice(NO_ROUTE.length)
      if (lacks.includes(lack) || !allNeeds) return null
      return {
        message,
        hint: suggester(lacks)(lack)?.replace('"', `"${NO_ROUTE}`) ?? `no rule needs ${show(lack)}`,
      }
    }
    if (KINDS.some(kind => kind === word)) return null
    const known = `the kinds are ${listed([...KINDS, `${NO_ROUTE}<capability>`])}`
    return { message, hint: suggester(KINDS)(word) ?? known }
  }
  return (written.gateway?.acknowledge ?? []).flatMap((word, index): Finding[] => {
    const fault = word === undefined ? null : faultOf(word)
    return fault === null
      ? []
      : [{ file: 'gateway.yaml', path: ['acknowledge', index], at: 'value', ...fault }]
  })
}
