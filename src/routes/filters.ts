/** Filter ids: clients get ids of ours that are the binding itself, sealed, so that no process has to remember any. */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import type { Raw } from '../jsonrpc/raw.ts'

const CIPHER = 'aes-256-gcm'
const NONCE = 12
const TAG = 16
/** Characters of an id at most, quotes included: longer than a network, a route and a node's id can make it. */
const MOST = 1024
/** Ours as we write them: neither escapes nor upper case, so a filter has one id. */
const ID = /^"0x(?:[0-9a-f]{2})+"$/

/** A filter on a node. */
export interface Filter {
  readonly network: string
  readonly route: string
  /** `nodeAt` of the route when it was made: behind another URL there is another node, with filters of its own. */
  readonly node: string
  /** The node's own id, raw. */
  readonly upstreamId: Raw
  /** Milliseconds since the Unix epoch. */
  readonly madeAt: number
  /** The blocks whose logs it finds, if they begin at a number; `to` null is the newest block. */
  readonly range?: { readonly from: number; readonly to: number | null }
}

/**
 * Keys of 32 bytes that seal nothing else: the first seals, each opens. `again` when an id opens with none of them: another process may have a newer one
 * than was known here.
 */
export type FilterKeys = (again: boolean) => readonly KeyObject[]

/** Seals and opens filter ids with keys that every process of a gateway has. */
export class Filters {
  readonly #keys: FilterKeys

  constructor(keys: FilterKeys) {
    this.#keys = keys
  }

  /** The client's id for a filter, raw; null when the node's own is too long for one. `owner` alone can use it. */
  seal({ network, route, node, upstreamId, madeAt, range }: Filter, owner: string): Raw | null {
    const blocks = range === undefined ? '' : `:${range.from}-${range.to ?? ''}`
    // Neither slugs nor ids of routes hold a space.
    const text = `${network} ${route} ${node} ${madeAt.toString(36)}${blocks} ${upstreamId}`
    if (idLength(text.length) > MOST) return null
    const nonce = randomBytes(NONCE)
    const cipher = createCipheriv(CIPHER, this.#keys(false)[0]!, nonce, { authTagLength: TAG })
    cipher.setAAD(Buffer.from(owner))
    const sealed = Buffer.concat([nonce, cipher.update(text, 'latin1'), cipher.final(), cipher.getAuthTag()])
    return `"0x${sealed.toString('hex')}"`
  }

  /** The filter of a client's id, raw; null when it is not one of ours for this owner on this network. */
  open(id: Raw, owner: string, network: string): Filter | null {
    if (id.length < idLength(0) || id.length > MOST || !ID.test(id)) return null
    const sealed = Buffer.from(id.slice(3, -1), 'hex')
    const text = decrypt(this.#keys(false), sealed, owner) ?? decrypt(this.#keys(true), sealed, owner)
    const filter = text === null ? null : parse(text)
    return filter?.network === network ? filter : null
  }

  /** What tells the URL of a route from others, in a few characters. */
  nodeAt(url: string): string {
    return createHash('sha256').update(url).digest('base64url').slice(0, 8)
  }
}

function decrypt(keys: readonly KeyObject[], sealed: Buffer, owner: string): string | null {
  for (const key of keys) {
    const text = decryptWith(key, sealed, owner)
    if (text !== null) return text
  }
  return null
}

function decryptWith(key: KeyObject, sealed: Buffer, owner: string): string | null {
  const end = sealed.length - TAG
  const nonce = sealed.subarray(0, NONCE)
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG })
  decipher.setAAD(Buffer.from(owner))
  decipher.setAuthTag(sealed.subarray(end))
  const text = decipher.update(sealed.subarray(NONCE, end), undefined, 'latin1')
  try {
    return text + decipher.final('latin1')
  } catch {
    return null
  }
}

/** Characters of the id that seals so many bytes. */
function idLength(bytes: number): number {
  return '"0x"'.length + 2 * (NONCE + bytes + TAG)
}

function parse(text: string): Filter | null {
  const found = /^(\S+) (\S+) (\S+) ([0-9a-z]+)(?::(\d+)-(\d*))? ([^]+)$/.exec(text)
  if (found === null) return null
  const [, network = '', route = '', node = '', madeAt = '', from, to = '', upstreamId = ''] = found
  const filter = { network, route, node, upstreamId, madeAt: parseInt(madeAt, 36) }
  if (from === undefined) return filter
  return { ...filter, range: { from: Number(from), to: to === '' ? null : Number(to) } }
}
