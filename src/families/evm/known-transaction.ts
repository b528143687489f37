/** Nodes that answer with an error to a transaction which they have: already, or for now without a receipt. */
import { keccak_256 } from '@noble/hashes/sha3.js'
import { elementsOf, pickMembers } from '../../jsonrpc/elements.ts'
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
/** The first byte of a list in RLP, and of one whose length stands in further bytes. */
const LIST = 0xc0
const LONG_LIST = 0xf7

/** The hash of an eth_sendRawTransaction call's transaction (keccak-256 of its bytes, EIP-2718); null for no hex. */
export function transactionHash(params: Raw): Raw | null {
  const first = params.charCodeAt(0) === 91 ? elementsOf(params)[0] : undefined
  const hex = first?.charCodeAt(0) === 34 ? (decodeJson(first) as string) : ''
  if (!/^0x([0-9a-f]{2})+$/i.test(hex)) return null
  const bytes = Buffer.from(hex.slice(2), 'hex')
  return `"0x${Buffer.from(keccak_256(bytes[0] === BLOB ? withoutBlobs(bytes) : bytes)).toString('hex')}"`
}

/** Of a list whose first item is a list, the transaction, that one: the blobs and what proves them come behind it. */
function withoutBlobs(bytes: Buffer): Buffer {
  const [start] = listAt(bytes, 1) ?? []
  const body = start === undefined ? null : listAt(bytes, start)
  return body === null ? bytes : Buffer.concat([bytes.subarray(0, 1), bytes.subarray(start, body[1])])
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
export function hashOfTaken(params: Raw, error: Raw): Raw | null {
  const [code, data] = pickMembers(error, ['code', 'data'])
  if (code == null || !TAKEN.has(code)) return null
  const said = hashDigits(data)
  const hash = said === null ? null : transactionHash(params)
  return hash !== null && hashDigits(hash) === said ? hash : null
}
