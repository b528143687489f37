import { isDenied, isForDevnets } from '../denied.ts'
import { wordsOf } from '../families.ts'
import type { Finding } from '../finding.ts'
import { show } from '../words/show.ts'
import type { Row } from './rows.ts'

function denied({ name, network }: Row): { readonly message: string; readonly hint: string } {
  if (!isForDevnets(name) || network === null)
    return { message: `${name} is never forwarded, on any plan`, hint: 'remove the rule' }
  const message = `${name} controls a node for tests`
  return { message, hint: `say devnet: true of ${network} where it is one, or remove the rule` }
}

/** Whether a rule's name is one of its family, and may have a rule at all. */
export function checkName(row: Row): Finding[] {
  const { file, path, family, name } = row
  if (family === undefined) return []
  const place = { file, path, at: 'key' } as const
  const { pattern, hint } = wordsOf(family).names
  if (!pattern.test(name))
    return [{ ...place, message: `${show(name)} is not a method name of family ${family}`, hint }]
  if (isDenied(name) && !(row.devnet && isForDevnets(name))) return [{ ...place, ...denied(row) }]
  if (name.startsWith('service_'))
    return [
      { ...place, message: `${name} is answered by the gateway's own management`, hint: 'remove the rule' },
    ]
  return []
}
