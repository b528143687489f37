/** What a Solana transaction says of itself: its signature, and the blockhash that it lives by. */
import { base58 } from '@scure/base'
import { memberOf, MAX_READ } from '../../jsonrpc/elements.ts'
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'

/** A signed transaction, as far as it is read. */
export interface SolanaTransaction {
  /** Base58 of the first signature: what the chain knows it by. */
  readonly signature: string
  /** Base58 of the blockhash (or durable nonce) in its message. */
  readonly blockhash: string
}

/** Bytes of a signature, and of a key or hash. */
const SIGNATURE = 64
const HASH = 32
/** Set in the first byte of a versioned message. */
const VERSIONED = 0x80
/** First byte of a transaction of version 1, whose message comes before its signatures (SIMD-0385). */
const VERSION_1 = 0x81
/** Where a message of version 1 holds its lifetime: behind version, header and configuration mask. */
const LIFETIME_1 = 8

/** The transaction in the params of sendTransaction or simulateTransaction; null when they hold none that can be read. */
export function transactionOf(elements: readonly Raw[]): SolanaTransaction | null {
  const bytes = bytesOf(elements)
  if (bytes === null) return null
  if (bytes[0] === VERSION_1) {
    const begin = bytes.length - (bytes[1] ?? 0) * SIGNATURE
    return begin < LIFETIME_1 + HASH ? null : read(bytes, begin, LIFETIME_1)
  }
  const count = shortInteger(bytes, 0)
  if (count === null || count.value === 0) return null
  const lifetime = lifetimeAt(bytes, count.end + count.value * SIGNATURE)
  return lifetime === null ? null : read(bytes, count.end, lifetime)
}

/** The blockhash in a message by itself, as getFeeForMessage takes it (base64); null when it cannot be read. */
export function blockhashOfMessage([text]: readonly Raw[]): string | null {
  const bytes = Buffer.from(stringOf(text) ?? '', 'base64')
  const at = bytes[0] === VERSION_1 ? LIFETIME_1 : lifetimeAt(bytes, 0)
  return at === null || bytes.length < at + HASH ? null : base58.encode(bytes.subarray(at, at + HASH))
}

function read(bytes: Buffer, signatureAt: number, lifetimeAt: number): SolanaTransaction | null {
  if (bytes.length < Math.max(signatureAt + SIGNATURE, lifetimeAt + HASH)) return null
  return {
    signature: base58.encode(bytes.subarray(signatureAt, signatureAt + SIGNATURE)),
    blockhash: base58.encode(bytes.subarray(lifetimeAt, lifetimeAt + HASH)),
  }
}

/** Where the blockhash of a legacy message or one of version 0 is: behind its header and accounts. */
function lifetimeAt(bytes: Buffer, message: number): number | null {
  const header = ((bytes[message] ?? 0) & VERSIONED) === 0 ? message : message + 1
  const accounts = shortInteger(bytes, header + 3)
  return accounts === null ? null : accounts.end + accounts.value * HASH
}

/** Base58 unless the config says base64, as nodes read it. */
function bytesOf([first, config]: readonly Raw[]): Buffer | null {
  const text = stringOf(first)
  if (text === null) return null
  const encoding = config?.charCodeAt(0) === 123 ? memberOf(config, 'encoding') : undefined
  if (encoding === undefined || encoding === '"base58"') return fromBase58(text)
  return encoding === '"base64"' ? Buffer.from(text, 'base64') : null
}

/** Characters of a transaction in base58 that Agave accepts (MAX_BASE58_SIZE): decoding takes time by the square of them. */
const MAX_BASE58 = 1683

/** Null for other texts than base58, and for longer ones than any transaction that nodes accept. */
function fromBase58(text: string): Buffer | null {
  if (text.length > MAX_BASE58) return null
  try {
    return Buffer.from(base58.decode(text))
  } catch {
    return null
  }
}

/** A string that may be a transaction, a message or a hash; null for anything else, and for what is longer than any of them. */
export function stringOf(raw: Raw | undefined): string | null {
  return raw?.charCodeAt(0) === 34 && raw.length <= MAX_READ ? (decodeJson(raw) as string) : null
}

/** Solana's compact-u16: seven bits a byte, the lowest first. */
function shortInteger(bytes: Buffer, at: number): { readonly value: number; readonly end: number } | null {
  let value = 0
  for (let i = 0; i < 3; i += 1) {
    const byte = bytes[at + i]
    if (byte === undefined) return null
    value |= (byte & 0x7f) << (7 * i)
    if ((byte & 0x80) === 0) return { value, end: at + i + 1 }
  }
  return null
}
