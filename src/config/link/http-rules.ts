import { isRulePath } from '../../net/http-path.ts'
import type { Mistake } from '../mistake.ts'
import { show } from '../show.ts'
import type { Row } from './rows.ts'

/** What a rule of verbatim HTTP may say; the rest is about JSON-RPC, and whether it may be repeated follows from its verb. */
const KEYS: ReadonlySet<string> = new Set([
  'cost',
  'tier',
  'needs',
  'timeout',
  'enabled',
  'networks',
  'dialects',
])

/** What rules of verbatim HTTP get wrong: paths that no request can have, and keys that mean nothing there. */
export function checkHttpRule({ file, path, family, name, rule }: Row): Mistake[] {
  if (family !== 'http') return []
  const [, target = ''] = name.split(' ', 2)
  return [
    ...(isRulePath(target) ? [] : [{ ...unreachable(target), file, path, at: 'key' as const }]),
    ...Object.entries(rule)
      .filter(([key, value]) => value !== undefined && !KEYS.has(key))
      .map(([key]) => ({
        ...{ file, path: [...path, key], at: 'key' as const },
        message: `"${key}" means nothing on a verbatim HTTP network`,
        hint: 'remove it',
      })),
  ]
}

function unreachable(target: string): Pick<Mistake, 'message' | 'hint'> {
  return {
    message: `no request has the path ${show(target)}`,
    hint: 'segments hold letters, digits and ._~:@,=+$!-, or are a {name}; a * ends a prefix',
  }
}

/** Rules of one place whose paths differ in the names of their segments only: which one governs would be chance. */
export function checkTwins(rows: readonly Row[]): Mistake[] {
  const first = new Map<string, string>()
  return rows.flatMap(({ file, path, family, network, name }) => {
    if (family !== 'http' || !name.includes('{')) return []
    const shape = JSON.stringify([network, name.replaceAll(/\{[^}]*\}/g, '{}')])
    const twin = first.get(shape)
    if (twin === undefined) {
      first.set(shape, name)
      return []
    }
    const message = `${show(twin)} covers the same paths`
    return [{ file, path, at: 'key' as const, message, hint: 'remove one of them' }]
  })
}
