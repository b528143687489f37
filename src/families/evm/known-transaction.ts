/** Nodes that answer with an error to a transaction which they have: already, or for now without a receipt. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { pickMembers } from '../../jsonrpc/elements.ts'
import { hashDigits } from '../hash.ts'
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'

/** How clients say that they have it: geth, Erigon, Nethermind, Besu, Parity and their kin. */
const KNOWN = [
  /already known/i,
  /known transaction/i,
  /alreadyknown/i,
  /already imported/i,
  /already in (the )?(mempool|pool|tx ?pool)/i,
  /transaction already exists/i,
  /already exists in (the )?(mempool|pool)/i,
  /duplicate transaction/i,
  /tx already in cache/i,
]

/** Says that the sender's nonce was used: by this very transaction, or by another one. */
const NONCE_USED = /nonce (is )?too low|old nonce|invalid nonce; got/i

/** What a node's error says of a transaction that may have been sent before. */
export function readSendError(message: string): 'known' | 'nonce_used' | 'other' {
  if (KNOWN.some(text => text.test(message))) return 'known'
  return NONCE_USED.test(message) ? 'nonce_used' : 'other'
}

/** The type of transactions that are sent with their blobs, which their hash leaves out (EIP-4844, "Networking"). */
const BLOB = 0x03
/** Types whose hash is that of their bytes: EIP-2930, 1559, 4844 and 7702. A chain may hash one of its own otherwise, as ZKsync does 0x71. */
const TYPES = new Set([0x01, 0x02, BLOB, 0x04])
/** The first byte of a list in RLP, and of one whose length stands in further bytes. */
const LIST = 0xc0
const LONG_LIST = 0xf7

/**
 * Bytes of a transaction that are hashed at most, its blobs apart: the pools of geth and reth accept 128 KiB. Hashing them in JavaScript
 * takes about 10 ms.
 */
const MAX_HASHED = 128 * 1024
/** Characters of a transaction of that length as JSON: its hex digits with `0x` and quotes. */
const MAX_HEX = 2 * MAX_HASHED + 4

/** Hashes by the elements of the call: nodes that are sent it at once may all answer that they know it. */
const hashes = new WeakMap<readonly Raw[], Raw | null>()

/**
 * The hash of an eth_sendRawTransaction call's transaction (keccak-256 of its bytes, EIP-2718); null for other values than hex, for more of it
 * than any chain accepts, and for types whose hash is not known.
 */
export function transactionHash(elements: readonly Raw[]): Raw | null {
  const known = hashes.get(elements)
  if (known !== undefined) return known
  const bytes = hashedBytes(elements[0])
  const hash = bytes === null ? null : `"0x${Buffer.from(keccak_256(bytes)).toString('hex')}"`
  hashes.set(elements, hash)
  return hash
}

function hashedBytes(element: Raw | undefined): Buffer | null {
  if (element?.charCodeAt(0) !== 34) return null
  // Of a long transaction the part before its blobs is decoded alone.
  if (element.length > MAX_HEX)
    return element.startsWith('"0x03') ? withoutBlobs(bytesOf(element.slice(3, MAX_HEX - 1))) : null
  const hex = decodeJson(element) as string
  const bytes = hex.startsWith('0x') ? bytesOf(hex.slice(2)) : null
  const type = bytes?.[0]
  if (bytes === null || type === undefined || (type < LIST && !TYPES.has(type))) return null
  return type === BLOB ? (withoutBlobs(bytes) ?? bytes) : bytes
}

/** The bytes that hex digits spell; null for any other text. */
function bytesOf(hex: string): Buffer | null {
  // It ends at the first character that is no digit.
  const bytes = Buffer.from(hex, 'hex')
  return bytes.length * 2 === hex.length ? bytes : null
}

/** The first item of a list, the transaction, if that is a whole list: the blobs and their proofs follow it. Null otherwise. */
function withoutBlobs(bytes: Buffer | null): Buffer | null {
  if (bytes === null) return null
  const [start] = listAt(bytes, 1) ?? []
  const body = start === undefined ? null : listAt(bytes, start)
  if (body === null || body[1] > bytes.length) return null
  return Buffer.concat([bytes.subarray(0, 1), bytes.subarray(start, body[1])])
}

/** Where the items of the list at `at` begin, and where it ends; null where there is none. */
function listAt(bytes: Buffer, at: number): readonly [first: number, end: number] | null {
  const head = bytes[at] ?? 0
  if (head < LIST) return null
  const ofLength = Math.max(0, head - LONG_LIST)
  const first = at + 1 + ofLength
  if (ofLength > 6 || first > bytes.length) return null
  const length = ofLength === 0 ? head - LIST : bytes.readUIntBE(at + 1, ofLength)
  return [first, first + length]
}

/** EIP-7966: no receipt came in time; or the transaction waits, for an earlier nonce or for funds. */
const TAKEN = new Set(['4', '5'])

/**
 * The hash of the transaction that eth_sendRawTransactionSync has sent, where the error says that the node has it. Its `data` has to be that very
 * hash: what else is in an error may be anything that the client has sent.
 */
export function hashOfTaken(elements: readonly Raw[], error: Raw): Raw | null {
  const [code, data] = pickMembers(error, ['code', 'data'])
  if (code == null || !TAKEN.has(code)) return null
  const said = hashDigits(data)
  const hash = said === null ? null : transactionHash(elements)
  return hash !== null && hashDigits(hash) === said ? hash : null
}
