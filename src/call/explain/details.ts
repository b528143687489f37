/** What a person who asks about a call wants to know besides the decision itself. */
import { isDenied } from '../../config/denied.ts'
import { suggester } from '../../config/words/suggest.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { findMethod } from '../../snapshot/find-method.ts'
import { covers } from '../../net/patterns.ts'
import type { MethodRow, Network, Rule, Snapshot } from '../../snapshot/types.ts'
import type { Need } from '../../routes/pick.ts'
import type { BlockSpan } from '../../families/block-span.ts'
import type { Question } from './question.ts'
import { turnsOf } from './turns.ts'
import type { LiveView, Turns } from './turns.ts'
import { localResult } from '../local.ts'
import { mayGather } from '../node/request.ts'

/** Facts for sentences. */
export interface Details {
  /** Of the snapshot that decided. */
  readonly version: string
  /** Of the network; null where it says none. */
  readonly dialect: string | null
  readonly head: number | null
  readonly stateWindow: number
  /** The raw result of a local answer. */
  readonly answer: string | null
  readonly management: boolean
  readonly rule: Pick<Rule, 'match' | 'block' | 'reads' | 'retry' | 'subscribe' | 'unsubscribes'> | null
  /** The oldest block that the call reads, where its params say so. */
  readonly block: number | string | null
  readonly archive: boolean
  /** Plans that include the rule's tier. */
  readonly plans: readonly string[]
  /** Whether it was taken to be about the newest block for want of params. */
  readonly assumed: boolean
  /** Why there is no such method here, and what an operator can change about that. */
  readonly absence: Absence | null
  /** What is missing or allowed, as the refusal's `data` tells it. */
  readonly data: Readonly<Record<string, unknown>>
  /** What would refuse the call on a plan with its tier too, where the plan refuses it. */
  readonly beyond: Pick<Refusal, 'reason' | 'message' | 'data'> | null
  /** Whether it may go to a route in one body with others of its batch. */
  readonly gathers: boolean
  /** Whether all that is in the way is that no route answers. */
  readonly isDown: boolean
  readonly turns: Turns
}

interface Absence {
  readonly why: string
  readonly change: string | null
}

/** What was decided. */
interface Decision {
  readonly row: MethodRow | null
  readonly archive: boolean
  readonly keepers: readonly string[]
  readonly need: Need | null
  readonly refusal: Refusal | null
  readonly beyond: Refusal | null
  readonly isDown: boolean
  readonly span: BlockSpan
}

/** The facts behind a decision. */
export function detailsOf(
  question: Question,
  { row, archive, keepers, need, refusal, beyond, isDown, span }: Decision,
  snapshot: Snapshot,
  live: LiveView | null,
): Details {
  const { network, method, management } = question
  const rule = row?.rule ?? null
  const tier = rule?.tier
  // Whoever cannot be connected to is passed over for a subscription, as long as another can.
  const isCarried = live !== null && rule?.subscribe != null && !isDown
  const carriers = isCarried ? keepers.filter(id => live.whyNoSocket(id) === null) : keepers
  return {
    version: snapshot.version,
    dialect: network.dialect,
    head: question.head,
    stateWindow: network.stateWindow,
    answer: rule?.answer == null ? null : localResult(rule.answer, network),
    management: management !== null,
    rule,
    block: span === null ? null : blockOf(span),
    archive,
    assumed: question.params === null && rule !== null && rule.block !== null,
    plans: Object.values(snapshot.plans)
      .filter(({ tiers }) => tier !== undefined && tiers.includes(tier))
      .map(({ name }) => name),
    absence: refusal?.reason === 'method_not_found' ? absenceOf(network, method, snapshot) : null,
    data: refusal?.data ?? {},
    beyond: beyond === null ? null : { reason: beyond.reason, message: beyond.message, data: beyond.data },
    gathers: row !== null && mayGather({ row, network }),
    isDown,
    turns: need === null ? { state: 'none', routes: [] } : turnsOf(network, carriers, method, need, live),
  }
}

function blockOf({ from }: NonNullable<BlockSpan>): number | string | null {
  return from.kind === 'number' ? from.number : from.kind === 'tag' ? from.tag : null
}

/** The client is told only that there is no such method; the operator, why. */
function absenceOf(network: Network, method: string, snapshot: Snapshot): Absence {
  if (method.startsWith('service_'))
    return { why: 'service_ methods belong to the gateway; there is none of this name', change: null }
  if (isDenied(method))
    return { why: `${method} is never forwarded, on any plan and whatever methods.yaml says`, change: null }
  if (findMethod(network, method) !== null)
    return {
      why: 'no enabled route is allowed to serve it',
      change: 'let one serve it: see methods.allow and methods.deny in routes.yaml',
    }
  const written = Object.keys(network.absent).filter(match => covers(match, method))
  const match = written.sort((a, b) => b.length - a.length)[0]
  if (match !== undefined)
    return {
      why: `${match} is written, but ${network.absent[match] ?? ''}`,
      change: 'change that rule, or write one for this network under its methods in networks.yaml',
    }
  const others = Object.values(snapshot.networks).filter(other => findMethod(other, method) !== null)
  if (others.length > 0)
    return {
      why: `no rule of ${network.slug} names it; ${some(others.map(({ slug }) => slug))}`,
      change: 'ask the other network, or write a rule under methods of this one in networks.yaml',
    }
  const suggestion = suggester(Object.keys(network.methods))(method)
  return suggestion === undefined
    ? { why: 'no rule names it', change: 'write a rule for it in methods.yaml, if it should exist' }
    : { why: `no rule names it; ${suggestion}`, change: null }
}

function some(slugs: readonly string[]): string {
  const shown = slugs.slice(0, 3).join(', ')
  const more = slugs.length > 3 ? ` and ${slugs.length - 3} more` : ''
  return `${shown}${more} ${slugs.length === 1 ? 'has' : 'have'} it`
}
