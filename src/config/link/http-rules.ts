import { isRulePath } from '../../net/http-path.ts'
import { wordsOf } from '../families.ts'
import type { Finding } from '../finding.ts'
import { show } from '../words/show.ts'
import type { Row } from './rows.ts'

/** Whether requests can have the path of a rule of verbatim HTTP. */
export function checkPath({ file, path, family, name }: Row): Finding[] {
  if (family === undefined || !wordsOf(family).arePaths) return []
  const [, target = ''] = name.split(' ', 2)
  return isRulePath(target) ? [] : [{ ...unreachable(target), file, path, at: 'key' }]
}

function unreachable(target: string): Pick<Finding, 'message' | 'hint'> {
  return {
    message: `no request has the path ${show(target)}`,
    hint: 'segments hold letters, digits and ._~:@,=+$!-, or are a {name}; a * ends a prefix',
  }
}

/** Rules of one place whose paths differ in the names of their segments only: which one governs would be chance. */
export function checkTwins(rows: readonly Row[]): Finding[] {
  const first = new Map<string, string>()
  return rows.flatMap(({ file, path, family, network, name }) => {
    if (family === undefined || !wordsOf(family).arePaths || !name.includes('{')) return []
    const shape = JSON.stringify([network, name.replaceAll(/\{[^{}]*\}/g, '{}')])
    const twin = first.get(shape)
    if (twin === undefined) {
      first.set(shape, name)
      return []
    }
    const message = `${show(twin)} covers the same paths`
    return [{ file, path, at: 'key' as const, message, hint: 'remove one of them' }]
  })
}
