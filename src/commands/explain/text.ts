/** Says a decision in sentences: what happens, what it costs, which route gets it and why, what to change. */
import { counted, requestUnits } from '../../config/words/units.ts'
import type { Explained } from '../../call/explain/explain.ts'
import type { Details } from '../../call/explain/details.ts'
import type { Turn } from '../../call/explain/turns.ts'
import { SILENT } from '../../http/admin/find-gateway.ts'
import { ago } from '../output/ago.ts'
import { adviceFor } from './advice.ts'
import type { Run } from './advice.ts'

/** The YAML as it stands, in the environment of the command. */
export interface Files {
  /** Null while it has errors. */
  readonly version: string | null
  /** Variables with another value in the gateway's environment, where nothing else differs; else null. */
  readonly variables: readonly string[] | null
  /** Whether a gateway runs that does not answer. */
  readonly isSilent: boolean
}

/** The lines for a person. `run` is a command as it is typed. */
export function explainLines(explained: Explained, files: Files, run: Run): string[] {
  const { explanation, details } = explained
  const { network, method, plan } = explanation
  const dialect = details.dialect === null ? '' : ` (dialect ${details.dialect})`
  return [
    `${method} on ${network}${dialect}, plan ${plan}, ${outcome(explained)}`,
    ...(details.absence === null ? [] : labelled('why', [details.absence.why])),
    ...labelled('rule', ruleLines(explained)),
    ...labelled('block', blockLines(details)),
    ...labelled('cache', explanation.cache === undefined ? [] : [explanation.cache.why]),
    ...labelled('share', explanation.share === undefined ? [] : [explanation.share]),
    ...labelled('routes', routeLines(explained)),
    ...labelled('retry', retryLines(explained)),
    ...labelled('change', adviceFor(explained, run)),
    ...labelled('seen', seenLines(explained, files)),
  ]
}

function labelled(label: string, lines: readonly string[]): string[] {
  return lines.map((line, index) => `  ${(index === 0 ? label : '').padEnd(8)}${line}`)
}

const ON_A_SOCKET = 'on a WebSocket; over HTTP it is refused with method_not_found'

function outcome({ explanation, details }: Explained): string {
  const { outcome, reason, message } = explanation
  if (outcome === 'refuse') return `is refused with ${reason ?? ''}: ${message ?? ''}.`
  if (details.management) return 'is answered by the gateway itself: it is account management.'
  if (outcome === 'answer' && explanation.cache?.keptFrom != null)
    return `is answered from the cache, with what ${explanation.cache.keptFrom} said.`
  if (outcome === 'answer') return `is answered by the gateway itself, with ${details.answer ?? ''}.`
  const next = details.turns.routes.filter(({ when }) => when === 'next').map(({ id }) => id)
  if (details.rule?.unsubscribes != null) return `ends one of the caller's own subscriptions, ${ON_A_SOCKET}.`
  if (details.turns.state === 'open')
    return details.rule?.subscribe == null
      ? `is sent to ${next.join(' or ')}.`
      : `is subscribed to over ${next.join(' or ')}, ${ON_A_SOCKET}.`
  return details.turns.state === 'full'
    ? 'waits up to 1 s for a route, as all are at their limits; then it is refused with overloaded.'
    : 'could be sent, but no route can take it now: it is refused with no_route.'
}

function ruleLines({ explanation }: Explained): string[] {
  const { rule, plan, outcome } = explanation
  if (rule === null) return outcome === 'answer' ? ['none: management costs nothing'] : []
  const cost = requestUnits(rule.cost)
  const free = plan === 'public' ? ', taken from the rate of the address and billed to nobody' : ''
  const needs = rule.needs.length === 0 ? 'needs no capability' : `needs ${rule.needs.join(', ')}`
  const spared = outcome === 'refuse' ? ' when it is served' : ''
  return [`${rule.match}: costs ${cost}${spared}${free}, tier ${rule.tier}, ${needs}`]
}

function blockLines(details: Details): string[] {
  const { archive, block, head, rule, stateWindow } = details
  if (details.assumed) return ['no --params given: taken to be about the newest block']
  if (rule === null || rule.reads === 'none') return []
  if (rule.reads === 'history')
    return typeof block === 'number' && rule.block !== null
      ? [`reads ${rule.block.kind === 'slot' ? 'slot' : 'block'} ${block}: only routes that keep it`]
      : []
  const what = rule.reads === 'replay' ? 'the state before block' : 'the state at block'
  if (block === null) return []
  if (archive && typeof block === 'string')
    return [`reads ${what} "${block}": only routes with archive keep it`]
  if (archive)
    return [
      `reads ${what} ${block}, older than the ${stateWindow} blocks (stateWindow) before ${head ?? 'the head'}: only routes with archive keep it`,
    ]
  if (typeof block === 'number' && head === null)
    return [`reads ${what} ${block}; --head N tells whether that is so old that it needs archive`]
  return [`reads ${what} ${typeof block === 'string' ? `"${block}"` : block}, which every route keeps`]
}

function routeLines({ explanation, details }: Explained): string[] {
  if (details.answer !== null || details.management || details.rule?.unsubscribes != null) return []
  const width = Math.max(0, ...explanation.routes.map(({ id }) => id.length))
  const turns = new Map(details.turns.routes.map(turn => [turn.id, turn]))
  const next = details.turns.routes.filter(({ when }) => when === 'next')
  const refused = explanation.outcome === 'refuse'
  const able = new Set(explanation.routes.filter(route => route.able).map(({ id }) => id))
  const standby = details.turns.routes.some(
    ({ id, when, waits }) => when === 'later' && waits === null && able.has(id),
  )
  return explanation.routes.map(({ id, why }) => {
    const turn = turns.get(id)
    const head = turn?.head == null ? '' : ` (at block ${turn.head})`
    const more =
      why === undefined ? failureOf(turn) + lackOf(turn) + paceOf(turn) + batchOf(turn, details) : ''
    const sentence = turnSentence(turn, why, next, refused, standby, explanation.broadcast)
    return `${id.padEnd(width)}  ${sentence}${head}${more}`
  })
}

/** How many calls a second it gets, where its upstream has complained of too many. */
function paceOf(turn: Turn | undefined): string {
  if (turn?.heldTo == null) return ''
  const { perSecond, concerns } = turn.heldTo
  const whose = { everybody: '', 'one caller': 'one caller is ', 'several callers': 'several callers are ' }
  return `; ${whose[concerns]}held to ${counted(perSecond, 'call')} a second after HTTP 429`
}

/** How many calls of a batch it gets in one body, where this one may be among them. */
function batchOf(turn: Turn | undefined, { gathers }: Details): string {
  if (!gathers || turn === undefined || turn.when === 'never' || turn.batch === 1) return ''
  return turn.refusesBatches === null
    ? `; up to ${counted(turn.batch, 'call')} of a batch in one body`
    : `; calls of a batch one by one, as it did not take several in one body: ${turn.refusesBatches}`
}

/** Others than that caller are still sent there. */
function lackOf(turn: Turn | undefined): string {
  return turn?.lackedBy == null ? '' : '; it answered one caller that it does not have the method'
}

/** What calls that are sent there may meet too, where nothing was answered since. */
function failureOf(turn: Turn | undefined): string {
  if (turn?.lastFailure == null) return ''
  const { why, ms } = turn.lastFailure
  return `; last failure: ${why}, ${ago(0, ms)}`
}

function turnSentence(
  turn: Turn | undefined,
  why: string | undefined,
  next: readonly Turn[],
  refused: boolean,
  standby: boolean,
  broadcast = 1,
): string {
  if (turn === undefined || turn.when === 'never') return `skipped: ${why ?? 'it cannot serve the call'}`
  if (refused) return why === undefined ? 'could serve it' : `skipped now: ${why}`
  if (turn.when === 'next' && why !== undefined) return `tried, as no other can serve it: ${why}`
  if (turn.when === 'next') return nextSentence(turn, next, standby)
  if (why !== undefined) return `skipped now: ${why}`
  if (turn.waits !== null) return `passed over now: ${turn.waits}`
  if (broadcast > 1 && next.length > 0)
    return `may get it too: one of up to ${broadcast} upstreams, after those of lower priority numbers`
  const first = next[0]?.priority
  return first === undefined || first === turn.priority
    ? 'passed over now'
    : `standby: priority ${turn.priority}, serves when no route of priority ${first} can`
}

function nextSentence({ weight, priority }: Turn, next: readonly Turn[], standby: boolean): string {
  if (next.length === 1)
    return standby ? `gets it: priority ${priority} comes first` : 'gets it: the only one that can'
  const total = next.reduce((sum, other) => sum + other.weight, 0)
  const share = Math.round((100 * weight) / total)
  return `may get it: about ${share} % by weight (${weight} of ${total}), less while it is slow or busy`
}

function retryLines({ explanation, details }: Explained): string[] {
  if (explanation.outcome !== 'forward' || details.rule?.unsubscribes != null) return []
  if (details.rule === null || details.turns.state !== 'open') return []
  const may = ({ when, lackedBy }: Turn): boolean => when !== 'never' && lackedBy !== 'everybody'
  const others = details.turns.routes.filter(may).length - 1
  if (others < 1) return ['none: no other route is able to serve it']
  if (details.rule.subscribe !== null)
    return ['when the route is lost, the subscription goes on over another able one']
  const { broadcast } = explanation
  if (broadcast !== undefined)
    return [
      `up to ${broadcast} upstreams get it at once, and the first that takes it answers (broadcast: ${broadcast})`,
      `when all of them fail, another route, at most 3 attempts one behind the other (retry: ${details.rule.retry})`,
    ]
  return details.rule.retry === 'never'
    ? ['another route only as long as nothing was sent (retry: never)']
    : [`another route after a failure, at most 3 attempts in all (retry: ${details.rule.retry})`]
}

function seenLines({ explanation, details }: Explained, { version, variables, isSilent }: Files): string[] {
  const head = details.head === null ? 'no head known' : `head ${details.head}`
  const why = isSilent ? SILENT : 'no gateway runs on this dataDir'
  if (!explanation.live) return [`offline, ${head}: ${why}, so the health of routes is not known`]
  if (variables !== null && variables.length > 0)
    return [
      `by the running gateway, ${head}`,
      `the environment of this shell differs from the gateway's in ${variables.length === 1 ? 'a variable' : 'variables'} of these files: ${variables.join(', ')}`,
    ]
  if (version === null)
    return [`by the running gateway, ${head}`, 'it serves what it had before: these files have errors']
  return details.version === version
    ? [`by the running gateway, ${head}`]
    : [
        `by the running gateway, ${head}`,
        'its configuration is not that of these files: reload it, or see in /status why it did not take them',
      ]
}
