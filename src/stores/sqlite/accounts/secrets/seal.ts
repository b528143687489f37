import { createCipheriv, createDecipheriv, randomBytes, type KeyObject } from 'node:crypto'

const NONCE = 12
const TAG = 16

/** AES-256-GCM of `text`, bound to `owner` (an endpoint id): nonce, ciphertext, tag. */
export function seal(masterKey: KeyObject, owner: string, text: string): Buffer {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: TAG })
  cipher.setAAD(Buffer.from(owner))
  return Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
}

/** The text that was sealed; throws when the master key, the owner or any byte differs. */
export function open(masterKey: KeyObject, owner: string, sealed: Uint8Array): string {
  const end = sealed.length - TAG
  if (end < NONCE) throw new Error('a sealed value is too short')
  const decipher = createDecipheriv('aes-256-gcm', masterKey, sealed.subarray(0, NONCE), {
    authTagLength: TAG,
  })
  decipher.setAAD(Buffer.from(owner))
  decipher.setAuthTag(sealed.subarray(end))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE, end)), decipher.final()]).toString('utf8')
}
