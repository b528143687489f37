import { isRulePath } from '../http-path.ts'
import type { Mistake } from '../mistake.ts'
import { show } from '../show.ts'
import type { Row } from './rows.ts'

/** What a rule of verbatim HTTP may say; the rest is about JSON-RPC, and whether it may be repeated follows from its verb. */
const KEYS: ReadonlySet<string> = new Set(['cost', 'tier', 'needs', 'timeout', 'enabled', 'networks'])

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
