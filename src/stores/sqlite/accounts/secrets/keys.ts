import { crc32 } from 'node:zlib'
import { randomBase62, toBase62 } from './base62.ts'

const SECRET = 32
const CHECKSUM = 6
const API_KEY = 'tg_'
const TOKEN = 'tgd_'
const API_TOKEN = 'tga_'

/** A new API key: `tg_`, 32 random base62 characters (190 bits) and 6 of checksum. */
export function mintKey(): string {
  return mint(API_KEY)
}

/** A new dashboard token: `tgd_`, otherwise built like a key. */
export function mintToken(): string {
  return mint(TOKEN)
}

/** A new token of the admin API: `tga_`, otherwise built like a key. */
export function mintApiToken(): string {
  return mint(API_TOKEN)
}

/** Whether this can be an API key at all: prefix, alphabet, length and checksum, without any lookup. */
export function isWellFormed(key: string): boolean {
  return fits(key, API_KEY)
}

/** Whether this can be a dashboard token at all. */
export function isWellFormedToken(token: string): boolean {
  return fits(token, TOKEN)
}

/** Whether this can be a token of the admin API at all. */
export function isWellFormedApiToken(token: string): boolean {
  return fits(token, API_TOKEN)
}

function mint(prefix: string): string {
  const body = prefix + randomBase62(SECRET)
  return body + checksum(body)
}

function fits(key: string, prefix: string): boolean {
  if (key.length !== prefix.length + SECRET + CHECKSUM || !key.startsWith(prefix)) return false
  if (!/^[0-9A-Za-z]+$/.test(key.slice(prefix.length))) return false
  return checksum(key.slice(0, -CHECKSUM)) === key.slice(-CHECKSUM)
}

/** CRC-32 of prefix and secret: any single mistyped character shows, and secret scanners can verify it offline. */
function checksum(body: string): string {
  return toBase62(crc32(body), CHECKSUM)
}
