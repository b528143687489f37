/** `POST /cache/purge`: drops kept answers, of a network, a route or a method, or of what is all of these. */
import { suggester } from '../../config/words/suggest.ts'
import type { AdminReply } from '../../http/admin/listener.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import type { AnswerOrigin } from '../../ports/answer-cache.ts'
import { findMethod } from '../../snapshot/find-method.ts'
import type { Snapshot } from '../../snapshot/types.ts'

/** Purges in every process that keeps answers; null where one of them has not said that it did. */
export type Purge = (which: Partial<AnswerOrigin>) => MaybePromise<number | null>

const NAMES = ['network', 'route', 'method'] as const

type Which = Partial<AnswerOrigin>

/** Reads the body, and answers how many answers were dropped. */
export async function answerPurge(body: unknown, snapshot: Snapshot, purge: Purge): Promise<AdminReply> {
  const which = whichOf(body)
  if (typeof which === 'string') return { status: 400, json: { error: which } }
  const counts: (number | null)[] = []
  for (const each of byRule(which, snapshot)) counts.push(await purge(each))
  const purged = counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
  if (counts.includes(null))
    return { status: 503, json: { error: 'a worker did not answer: purge again', purged } }
  // What a route said may outlive its entry in routes.yaml.
  const unknown = purged > 0 ? null : unknownName(which, snapshot)
  return unknown === null ? { status: 200, json: { purged } } : { status: 404, json: { error: unknown } }
}

function whichOf(body: unknown): Which | string {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return 'the body must be an object'
  const unknown = Object.keys(body).find(name => !NAMES.some(known => known === name))
  if (unknown !== undefined) return `unknown member "${unknown}"; expected ${NAMES.join(', ')}`
  const wrong = Object.entries(body).find(([, value]) => typeof value !== 'string')
  if (wrong !== undefined) return `"${wrong[0]}" must be a string`
  return Object.keys(body).length === 0 ? `say what to drop: ${NAMES.join(', ')}` : body
}

/** Answers are kept by the rule that governs their method, which may be a pattern, and another one on another network. */
function byRule({ method, ...others }: Which, { networks }: Snapshot): Which[] {
  if (method === undefined) return [others]
  const rules = Object.values(networks).flatMap(network => findMethod(network, method)?.rule.match ?? [])
  return [...new Set([method, ...rules])].map(rule => ({ ...others, method: rule }))
}

/** What none of the networks, routes or methods goes by, as a sentence; null where all names are known. */
function unknownName({ network, route, method }: Which, { networks }: Snapshot): string | null {
  const all = Object.values(networks)
  const routes = all.flatMap(each => [...each.routes.map(({ id }) => id), ...each.disabled])
  return (
    missing('network', network, Object.keys(networks)) ??
    missing('route', route, routes) ??
    (method !== undefined && all.some(each => findMethod(each, method) !== null)
      ? null
      : missing(
          'method',
          method,
          all.flatMap(each => [...Object.keys(each.methods), ...each.patterns.map(({ rule }) => rule.match)]),
        ))
  )
}

function missing(what: string, name: string | undefined, known: readonly string[]): string | null {
  if (name === undefined || known.includes(name)) return null
  const hint = suggester(known)(name)
  return `there is no ${what} "${name}"${hint === undefined ? '' : `; ${hint}`}`
}
