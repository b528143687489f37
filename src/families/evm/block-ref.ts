/** One block as params name it: a quantity, a tag or a hash. What is none of these is refused, since nodes differ in what they make of it. */
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'

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

const QUANTITY = /^0x[0-9a-f]+$/i
const HASH = /^0x[0-9a-f]{64}$/i

/** A quantity or tag; `hashes` says whether 32 bytes are a block's hash here, or only a long quantity. */
export function scalarRef(raw: Raw, hashes: boolean): BlockRef | Ambiguous {
  if (raw.length > MAX_REF) return { why: `a block is written in at most ${MAX_REF} bytes` }
  const tag = WRITTEN_TAGS.get(raw)
  if (tag !== undefined) return tag
  const value = decodeJson(raw)
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
