/** Whether "there is none" may only be this route's ignorance. */
import { familyOf } from '../../families/families.ts'
import { elementsOf, memberOf } from '../../jsonrpc/elements.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Rule } from '../../snapshot/types.ts'
import type { Candidate } from '../../routes/pick.ts'
import type { Heads } from '../../routes/heads.ts'
import type { Request } from './request.ts'

/** It has not heard of it yet, or keeps it no more. */
export type Suspicion = 'null_behind' | 'missing'

/** Why the result is not believed yet; null when it is. */
export function suspicionOf(
  result: Raw,
  { route, live }: Candidate,
  { network, row }: Request,
  heads: Pick<Heads, 'best'>,
): Suspicion | null {
  const { rule, archive } = row
  if (!(rule.nullIsLag || rule.reads === 'history') || !saysNone(result, rule)) return null
  const allowed = familyOf(network).probeLag
  if (rule.nullIsLag && isBehind(live, heads.best(network.slug), allowed)) return 'null_behind'
  const keepsLess = rule.reads === 'history' && rule.block !== null && !archive.includes(route.id)
  return keepsLess && archive.length > 0 ? 'missing' : null
}

function isBehind({ head }: Candidate['live'], best: number | null, allowed: number): boolean {
  return best !== null && (head === null || head + allowed < best)
}

/** A null, or among the values of a call that asks for many. */
function saysNone(result: Raw, rule: Rule): boolean {
  if (result === 'null') return true
  if (rule.block !== null || result.charCodeAt(0) !== 123) return false
  const value = memberOf(result, 'value')
  return value?.charCodeAt(0) === 91 && elementsOf(value).includes('null')
}
