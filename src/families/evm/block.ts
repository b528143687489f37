/** Reads out of a call's params which block it asks about, as far as the rule says where that stands. */
import { memberOf, pickMembers } from '../../jsonrpc/elements.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Rule } from '../../snapshot/types.ts'
import { hashRef, scalarRef, slotRef, stringRef } from './block-ref.ts'
import type { Ambiguous, BlockRef } from './block-ref.ts'
import { MAX_READ } from '../../jsonrpc/elements.ts'

export type { BlockRef } from './block-ref.ts'

/** A block, or a range of blocks from oldest to newest. */
export type BlockSpan =
  | { readonly from: BlockRef; readonly to: BlockRef }
  /** The params hold no such thing, or a node has to judge what they hold. */
  | null

type BlockRule = NonNullable<Rule['block']>

/** The blocks that a call reads; null as a value counts as left out everywhere. */
export function blockSpan(block: BlockRule, elements: readonly Raw[]): BlockSpan | Ambiguous {
  let element = elements[block.at]
  if (block.path !== undefined && element !== undefined && element !== 'null') {
    if (!isObject(element)) return { why: `the parameter that holds "${block.path}" is an object` }
    const member = memberOf(element, block.path)
    if (member === null) return ambiguous(block.path)
    element = member
  }
  if (element === undefined || element === 'null') return omitted(block)
  switch (block.kind) {
    case 'range':
      return isObject(element) ? rangeOf(element) : { why: 'a range of blocks is an object' }
    case 'txhash':
      return one(stringRef(element))
    case 'hash':
      return isObject(element) ? objectRef(element) : one(stringRef(element))
    case 'slot':
      // A config object stands in the place of a slot that is left out.
      return isObject(element) ? null : one(slotRef(element))
    case 'num':
      return isObject(element) ? objectRef(element) : one(scalarRef(element, false))
    case 'ref':
      return isObject(element) ? objectRef(element) : one(scalarRef(element, true))
  }
}

function isObject(raw: Raw): boolean {
  return raw.charCodeAt(0) === 123
}

function omitted(block: BlockRule): BlockSpan {
  return one({ kind: 'tag', tag: block.omitted ?? 'latest' })
}

function one(ref: BlockRef): BlockSpan
function one(ref: BlockRef | Ambiguous): BlockSpan | Ambiguous
function one(ref: BlockRef | Ambiguous): BlockSpan | Ambiguous {
  return 'why' in ref ? ref : { from: ref, to: ref }
}

/** EIP-1898: {blockNumber} or {blockHash, requireCanonical}. */
function objectRef(object: Raw): BlockSpan | Ambiguous {
  if (object.length > MAX_READ) return { why: `a block object has at most ${MAX_READ} bytes` }
  const [number, hash] = membersOf(object, ['blockNumber', 'blockHash'])
  if (number === null) return ambiguous('blockNumber')
  if (hash === null) return ambiguous('blockHash')
  if (number !== undefined && hash !== undefined)
    return { why: 'a block object has blockNumber or blockHash, not both' }
  if (hash !== undefined) return one(hashRef(hash))
  return number === undefined
    ? { why: 'a block object has blockNumber or blockHash' }
    : one(scalarRef(number, false))
}

/** {fromBlock, toBlock} or {blockHash} of a log or trace filter; a missing end is `latest`. */
function rangeOf(object: Raw): BlockSpan | Ambiguous {
  const values = membersOf(object, RANGE)
  const twice = values.indexOf(null)
  if (twice !== -1) return ambiguous(RANGE[twice]!)
  const [hash, fromBlock, toBlock] = values
  if (hash != null)
    return fromBlock == null && toBlock == null
      ? one(hashRef(hash))
      : { why: 'a filter has blockHash, or fromBlock and toBlock, not both' }
  const from = fromBlock == null ? latest : scalarRef(fromBlock, false)
  const to = toBlock == null ? latest : scalarRef(toBlock, false)
  if ('why' in from) return from
  return 'why' in to ? to : { from, to }
}

const RANGE = ['blockHash', 'fromBlock', 'toBlock']
const latest: BlockRef = { kind: 'tag', tag: 'latest' }

/** The members by name; null where one cannot be told, undefined where it is absent or null. */
function membersOf(object: Raw, names: readonly string[]): (Raw | undefined | null)[] {
  return pickMembers(object, names).map(value => (value === 'null' ? undefined : value))
}

function ambiguous(name: string): Ambiguous {
  return { why: `the member "${name}" is a duplicate or a variant of another name, or one of too many` }
}
