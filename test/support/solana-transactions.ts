import { randomBytes } from 'node:crypto'
import { getBase58Decoder } from '@solana/kit'

const base58 = (bytes: Uint8Array) => getBase58Decoder().decode(bytes)

/** A legacy transaction that no node has to execute: signed at random, by the blockhash given or a random one. */
export interface RandomTransaction {
  readonly signature: string
  readonly blockhash: string
  readonly base58: string
  readonly base64: string
  /** Its message alone, in base64. */
  readonly message: string
}

/** Makes one. */
export function randomTransaction(blockhash: Uint8Array = randomBytes(32)): RandomTransaction {
  const signature = randomBytes(64)
  // One signer, no read-only signer, one read-only account; two accounts; no instruction.
  const message = Buffer.concat([Buffer.from([1, 0, 1, 2]), randomBytes(64), blockhash, Buffer.from([0])])
  const bytes = Buffer.concat([Buffer.from([1]), signature, message])
  return {
    signature: base58(signature),
    blockhash: base58(blockhash),
    base58: base58(bytes),
    base64: bytes.toString('base64'),
    message: message.toString('base64'),
  }
}
