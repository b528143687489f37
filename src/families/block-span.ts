/** Reads out of a call's params which block it asks about, as far as the rule says where that stands. */
import { memberOf, pickMembers, MAX_READ } from '../jsonrpc/elements.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Rule } from '../snapshot/types.ts'
import { decodeJson } from '../jsonrpc/raw.ts'

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

/** What is known of a block before anyone is asked. */
export type BlockRef =
  | { readonly kind: 'number'; readonly number: number }
  | { readonly kind: 'tag'; readonly tag: string }
  /** A hash: the block's number is not known here. */
  | { readonly kind: 'hash' }

/** Why the params are refused. */
export interface Ambiguous {
  readonly why: string
}

/** Bytes of a number, tag or hash: a 32-byte hash has 66 characters, each of which may be an escape. */
const MAX_REF = 512

/**
 * Tags that nodes know. The first five are those of the execution API; the others name settled or executed heads on Avalanche
 * (accepted), zkSync (committed, l1_committed, fast_finalized) and Erigon (latestExecuted). A tag that is not here could name
 * an old block, which would pass the checks of archive and range.
 */
const TAGS: ReadonlyMap<string, BlockRef> = new Map(
  'latest earliest pending safe finalized accepted committed l1_committed fast_finalized latestExecuted'
    .split(' ')
    .map(tag => [tag, { kind: 'tag', tag }]),
)
/** The same as nearly every call writes them, told without decoding. */
const WRITTEN_TAGS: ReadonlyMap<Raw, BlockRef> = new Map([...TAGS].map(([tag, ref]) => [`"${tag}"`, ref]))

/** A string as JSON writes it without escapes. */
const PLAIN = /^"\w*"$/
const QUANTITY = /^0x[0-9a-f]+$/i
const HASH = /^0x[0-9a-f]{64}$/i

/** A quantity or tag; `hashes` says whether 32 bytes are a block's hash here, or only a long quantity. */
export function scalarRef(raw: Raw, hashes: boolean): BlockRef | Ambiguous {
  if (raw.length > MAX_REF) return { why: `a block is written in at most ${MAX_REF} bytes` }
  const tag = WRITTEN_TAGS.get(raw)
  if (tag !== undefined) return tag
  const value = PLAIN.test(raw) ? raw.slice(1, -1) : decodeJson(raw)
  // Nodes that take decimal numbers read them as JSON does.
  if (typeof value === 'number') return numberRef(value)
  if (typeof value !== 'string') return NO_BLOCK
  if (hashes && HASH.test(value)) return HASH_REF
  if (QUANTITY.test(value)) return numberRef(Number(value))
  return TAGS.get(value) ?? NO_BLOCK
}

/** A 32-byte hash. */
export function hashRef(raw: Raw): BlockRef | Ambiguous {
  const value = raw.length <= MAX_REF && raw.charCodeAt(0) === 34 ? decodeJson(raw) : null
  return typeof value === 'string' && HASH.test(value) ? HASH_REF : { why: 'a hash is 0x and 64 hex digits' }
}

/** In the place of a hash or signature: a string, whose form nodes judge themselves, as it differs by family. */
export function stringRef(raw: Raw): BlockRef | Ambiguous {
  return raw.charCodeAt(0) === 34 ? HASH_REF : { why: 'a hash is a string' }
}

/** A slot, which Solana's nodes take as a JSON number alone. */
export function slotRef(raw: Raw): BlockRef | Ambiguous {
  const value = raw.length <= MAX_REF ? decodeJson(raw) : null
  return typeof value === 'number' ? numberRef(value) : { why: 'a slot is a JSON number' }
}

function numberRef(number: number): BlockRef | Ambiguous {
  if (Number.isSafeInteger(number) && number >= 0) return { kind: 'number', number }
  return { why: 'a block number is a whole number from 0 to 2^53 - 1' }
}

const HASH_REF: BlockRef = { kind: 'hash' }
const NO_BLOCK: Ambiguous = {
  why: `a block is a quantity ("0x1b4"), a tag (latest, earliest, pending, safe, finalized), a hash or a block object`,
}
