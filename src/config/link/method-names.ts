import { isDenied, isForDevnets } from '../denied.ts'
import type { Mistake } from '../mistake.ts'
import { show } from '../show.ts'
import type { Family } from '../types.ts'
import type { Row } from './rows.ts'

const JSON_RPC = {
  pattern: /^[A-Za-z0-9_]+\*?$/,
  hint: 'use letters, digits and _, and a * at the end for a prefix',
}
const HTTP = {
  pattern: /^(GET|POST|PUT|PATCH|DELETE|HEAD) \/[^\s?#*]*\*?$/,
  hint: 'write METHOD /path, and a * at the end for a prefix',
}
const SYNTAX: Readonly<Record<Family, { pattern: RegExp; hint: string }>> = {
  evm: JSON_RPC,
  solana: JSON_RPC,
  http: HTTP,
}

function denied({ name, network }: Row): { readonly message: string; readonly hint: string } {
  if (!isForDevnets(name) || network === null)
    return { message: `${name} is never forwarded, on any plan`, hint: 'remove the rule' }
  const message = `${name} controls a node for tests`
  return { message, hint: `say devnet: true of ${network} where it is one, or remove the rule` }
}

/** Whether a rule's name is one of its family, and may have a rule at all. */
export function checkName(row: Row): Mistake[] {
  const { file, path, family, name } = row
  if (family === undefined) return []
  const place = { file, path, at: 'key' } as const
  const { pattern, hint } = SYNTAX[family]
  if (!pattern.test(name))
    return [{ ...place, message: `${show(name)} is not a method name of family ${family}`, hint }]
  if (isDenied(name) && !(row.devnet && isForDevnets(name))) return [{ ...place, ...denied(row) }]
  if (name.startsWith('service_'))
    return [
      { ...place, message: `${name} is answered by the gateway's own management`, hint: 'remove the rule' },
    ]
  return []
}
