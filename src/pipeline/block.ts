/** Reads out of a call's params which block it asks about, as far as the rule says where that stands. */
import { memberOf, pickMembers } from '../jsonrpc/elements.ts'
import { decodeJson } from '../jsonrpc/raw.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Rule } from '../snapshot/types.ts'

/** What is known of a block before anyone is asked. */
export type BlockRef =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'tag'; readonly tag: string }
  /** A hash: the block's number is not known here. */
  | { readonly kind: 'hash' }

/** A block, or a range of blocks from oldest to newest. */
export type BlockSpan =
  | { readonly from: BlockRef; readonly to: BlockRef }
  /** The params hold no such thing, or a node has to judge what they hold. */
  | null

/** Why the params are refused. */
export interface Ambiguous {
  readonly why: string
}

/** Bytes of a number, tag or hash: a 32-byte hash has 66 characters, each of which may be an escape. */
const MAX_REF = 512

type BlockRule = NonNullable<Rule['block']>

/** The blocks that a call reads. */
export function blockSpan(block: BlockRule, elements: readonly Raw[]): BlockSpan | Ambiguous {
  let element = elements[block.at]
  if (block.path !== undefined && element !== undefined) {
    const member = isObject(element) ? memberOf(element, block.path) : undefined
    if (member === null) return ambiguous(block.path)
    element = member
  }
  if (element === undefined || element === 'null') return omitted(block)
  if (block.kind === 'range') return isObject(element) ? rangeOf(element) : null
  if (block.kind === 'hash' || block.kind === 'txhash') return one({ kind: 'hash' })
  return isObject(element) ? objectRef(element) : one(scalarRef(element))
}

function isObject(raw: Raw): boolean {
  return raw.charCodeAt(0) === 123
}

function omitted(block: BlockRule): BlockSpan {
  return one({ kind: 'tag', tag: block.omitted ?? 'latest' })
}

function one(ref: BlockRef | null): BlockSpan
function one(ref: BlockRef | Ambiguous | null): BlockSpan | Ambiguous
function one(ref: BlockRef | Ambiguous | null): BlockSpan | Ambiguous {
  return ref === null || 'why' in ref ? ref : { from: ref, to: ref }
}

/** EIP-1898: {blockNumber} or {blockHash, requireCanonical}. */
function objectRef(object: Raw): BlockSpan | Ambiguous {
  const [number, hash] = pickMembers(object, ['blockNumber', 'blockHash'])
  if (number === null) return ambiguous('blockNumber')
  if (hash === null) return ambiguous('blockHash')
  if (hash !== undefined) return one({ kind: 'hash' })
  return number === undefined ? null : one(scalarRef(number))
}

/** {fromBlock, toBlock} or {blockHash} of a log or trace filter; a missing end is `latest`. */
function rangeOf(object: Raw): BlockSpan | Ambiguous {
  const values = pickMembers(object, RANGE)
  const twice = values.indexOf(null)
  if (twice !== -1) return ambiguous(RANGE[twice]!)
  const [hash, fromBlock, toBlock] = values.map(value => (value === 'null' ? undefined : value))
  if (hash != null) return one({ kind: 'hash' })
  const from = fromBlock == null ? latest : scalarRef(fromBlock)
  const to = toBlock == null ? latest : scalarRef(toBlock)
  if (from !== null && 'why' in from) return from
  if (to !== null && 'why' in to) return to
  return from === null || to === null ? null : { from, to }
}

const RANGE = ['blockHash', 'fromBlock', 'toBlock']
const latest: BlockRef = { kind: 'tag', tag: 'latest' }

/** A hex quantity, a decimal number (Solana's slots, and nodes that take them), a tag, or a 32-byte hash. */
function scalarRef(raw: Raw): BlockRef | Ambiguous | null {
  if (raw.length > MAX_REF) return { why: `a block is written in at most ${MAX_REF} bytes` }
  const value = decodeJson(raw)
  if (typeof value === 'number')
    return Number.isInteger(value) && value >= 0 ? { kind: 'number', number: value } : null
  if (typeof value !== 'string') return null
  if (/^0x[0-9a-f]{64}$/i.test(value)) return { kind: 'hash' }
  if (/^0x[0-9a-f]+$/i.test(value)) return { kind: 'number', number: Number(value) }
  return /^[a-z]+$/.test(value) ? { kind: 'tag', tag: value } : null
}

function ambiguous(name: string): Ambiguous {
  return { why: `the member "${name}" is there twice or in a variant of its name, or among too many` }
}
