/** Checks what a rule says of a call's params, and decodes those that may come as JSON in a string. */
import { MAX_READ, configOf, countNamed, elementsIn, elementsOf } from '../jsonrpc/elements.ts'
import type { Elements } from '../jsonrpc/elements.ts'
import { decodeJson, rawOf } from '../jsonrpc/raw.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import { isRefusal, refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { skipSpace, skipValue } from '../jsonrpc/skip.ts'
import type { Family } from '../families/family.ts'
import type { Rule } from '../snapshot/types.ts'
import { blockSpan } from '../families/block-span.ts'
import type { BlockSpan } from '../families/block-span.ts'
import { TIMEOUTS } from './node/request.ts'
import { tracerFault } from './tracer.ts'
import type { TracerBounds } from './tracer.ts'

/** Most params that are looked into, where a rule does not say how many there are. */
const MAX_PARAMS = 1000
/** Bytes of a subscription's params, which are kept as long as it lives. */
const MAX_SUBSCRIBE = 128 * 1024

/** Params that may go upstream. */
export interface CheckedParams {
  /** The client's own bytes, but for decoded `jsonParams`. */
  readonly params: Raw
  /** The first of them, where they are an array. */
  readonly elements: readonly Raw[]
  readonly span: BlockSpan
}

/**
 * Checks `params` (a valid JSON array or object) for the rule; `sent` is what they hold. `head` is the network's best known block.
 */
export function checkParams(
  rule: Rule,
  { isPositional }: Pick<Family, 'isPositional'>,
  params: Raw,
  { maxDepth, head }: { readonly maxDepth: number; readonly head: number | null },
  sent: Elements = elementsIn(params),
): CheckedParams | Refusal {
  if (params.charCodeAt(0) === 123)
    return isPositional ? invalid('params are positional: send an array') : checkNamed(rule, params, sent)
  if (rule.subscribe !== null && params.length > MAX_SUBSCRIBE)
    return invalid(`the params of a subscription have at most ${MAX_SUBSCRIBE} bytes`)
  if (rule.commitment !== null && isTooLong(configOf(rule.commitment, sent.first)))
    return tooLong('the config object')
  if (!readsParams(rule)) return unread(params, sent)
  const [min, max] = rule.params ?? [0, MAX_PARAMS]
  if (sent.count < min || sent.count > max) return invalid(countFault(min, max, sent.count))
  const all = sent.count > sent.first.length ? elementsOf(params) : sent.first
  const elements = rule.jsonParams.length === 0 ? all : decodeStrings(rule, all, maxDepth)
  if (isRefusal(elements)) return elements
  const fault = rule.tracers === null ? null : tracerFault(elements, boundsOf(rule, rule.tracers))
  if (fault !== null) return invalid(fault.why, fault.data)
  const span = rule.block === null ? null : blockSpan(rule.block, elements)
  if (span !== null && 'why' in span) return invalid(span.why)
  const tooWide = rangeFault(rule, span, head)
  if (tooWide !== null) return tooWide
  return { params: elements === all ? params : `[${elements.join(',')}]`, elements, span }
}

/** Params by name: members count as params. Which of them holds a range of blocks is not known. */
function checkNamed(rule: Rule, params: Raw, sent: Elements): CheckedParams | Refusal {
  if (rule.maxRange !== null && rule.block?.kind === 'range')
    return invalid('the range of blocks is read by position: send an array', { maxRange: rule.maxRange })
  if (rule.params === null) return unread(params, sent)
  const [min, max] = rule.params
  const count = countNamed(params, MAX_PARAMS)
  return count < min || count > max ? invalid(countFault(min, max, count)) : unread(params, sent)
}

/** Why a range of blocks may not be read under a rule; null when it may, as far as that can be said before a node is asked. */
export function rangeFault({ maxRange }: Rule, span: BlockSpan, head: number | null): Refusal | null {
  if (maxRange === null || span === null) return null
  if (isFromUnknown(span)) {
    const why = `how old the first block is cannot be told: write a number, as the range may hold ${maxRange} blocks`
    return invalid(why, { maxRange })
  }
  if (widthOf(span, head) <= maxRange) return null
  return invalid(`the range holds more than ${maxRange} blocks`, { maxRange })
}

/** Params that no rule looks into. */
function unread(params: Raw, { first }: Elements): CheckedParams {
  return { params, elements: first, span: null }
}

function isTooLong(element: Raw | null): boolean {
  return element !== null && element.length > MAX_READ
}

/** A string where an array or object may stand as text. */
function isLongString(element = ''): boolean {
  return element.charCodeAt(0) === 34 && element.length > MAX_READ
}

function tooLong(what: string): Refusal {
  return invalid(`${what} has at most ${MAX_READ} bytes`)
}

function readsParams(rule: Rule): boolean {
  return rule.params !== null || rule.block !== null || rule.tracers !== null || rule.jsonParams.length > 0
}

function boundsOf(rule: Rule, allowed: readonly string[]): TracerBounds {
  return { allowed, timeoutMs: TIMEOUTS[rule.timeout].attempt }
}

function countFault(min: number, max: number, count: number): string {
  const wanted = min === max ? String(min) : `${min} to ${max}`
  return `the method takes ${wanted} params, ${count} were sent`
}

/** Puts the object or array in place of a string that spells one (the spec shows such calls); the same elements where none does. */
function decodeStrings(rule: Rule, sent: readonly Raw[], maxDepth: number): readonly Raw[] | Refusal {
  if (rule.jsonParams.some(index => isLongString(sent[index]))) return tooLong('JSON in a string')
  let decoded: Raw[] | null = null
  for (const index of rule.jsonParams) {
    const element = sent[index]
    if (element?.charCodeAt(0) !== 34) continue
    const text = rawOf(decodeJson(element) as string)
    const begin = skipSpace(text, 0)
    const end = '{['.includes(text.charAt(begin)) ? skipValue(text, begin, maxDepth) : -1
    if (end < 0 || skipSpace(text, end) !== text.length) continue
    decoded ??= [...sent]
    decoded[index] = text.slice(begin, end)
  }
  return decoded ?? sent
}

/** Whether a range begins at a block such as `finalized`, which may be any number behind the head, and ends elsewhere. */
function isFromUnknown({ from, to }: NonNullable<BlockSpan>): boolean {
  if (from.kind !== 'tag' || NEAR_HEAD_OR_FIRST.has(from.tag)) return false
  return to.kind !== 'tag' || to.tag !== from.tag
}

const NEAR_HEAD_OR_FIRST: ReadonlySet<string> = new Set(['earliest', 'latest', 'pending', 'latestExecuted'])

/** Blocks in a range as far as that can be said before a node is asked. */
function widthOf(span: NonNullable<BlockSpan>, head: number | null): number {
  const from = numberOf(span.from, head)
  const to = numberOf(span.to, head)
  return from === null || to === null ? 0 : to - from + 1
}

function numberOf(ref: NonNullable<BlockSpan>['from'], head: number | null): number | null {
  if (ref.kind === 'number') return ref.number
  if (ref.kind === 'hash') return null
  return ref.tag === 'earliest' ? 0 : head
}

function invalid(why: string, data: Readonly<Record<string, unknown>> = {}): Refusal {
  return refuse('invalid_params', `Invalid params: ${why}`, { why, ...data })
}
