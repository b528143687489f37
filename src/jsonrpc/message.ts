/** JSON-RPC messages: the calls of a request, and the answer in a response. */
import { firstAt } from './value-at.ts'
import { isUtf8 } from 'node:buffer'
import type { Raw } from './raw.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { TOO_DEEP, TOO_MANY, skipSpace, skipValue, walkElements, walkMembers } from './skip.ts'
import { FoundElements, NO_ELEMENTS, matchName, nameOf } from './elements.ts'
import type { Elements } from './elements.ts'
import { decodeJson, isUtf8Raw } from './raw.ts'
import { scanResponse } from './replies.ts'

/** What a message asks: one call, or several whose answers travel as one array. */
export type Message =
  | { readonly kind: 'single'; readonly item: Call | BadCall }
  | { readonly kind: 'batch'; readonly items: readonly (Call | BadCall)[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Longest batch that is answered item by item. */
export const MAX_BATCH = 1000

/**
 * Scans a message once; no value in it is decoded. `maxDepth` counts every level of the body. A batch is scanned up to its item
 * MAX_BATCH + 1, which shows that it is too long: what follows is not read.
 */
export function scanMessage(body: Buffer, maxDepth: number, anyVersion = false): Message {
  if (!isUtf8(body)) return refused('parse_error')
  const raw = body.toString('latin1')
  const begin = skipSpace(raw, 0)
  if (raw.charCodeAt(begin) === 91) return scanBatch(raw, begin, maxDepth, anyVersion)
  const { end, item } = scanCall(raw, begin, maxDepth, anyVersion)
  if (item === null) return broken(end)
  if (skipSpace(raw, end) !== raw.length) return refused('parse_error')
  return { kind: 'single', item }
}

function scanBatch(raw: Raw, begin: number, maxDepth: number, anyVersion: boolean): Message {
  const items: (Call | BadCall)[] = []
  const batchEnd = walkElements(raw, begin, at => {
    if (items.length > MAX_BATCH) return TOO_MANY
    const { end, item } = scanCall(raw, at, maxDepth - 1, anyVersion)
    if (item !== null) items.push(item)
    return end
  })
  if (items.length > MAX_BATCH) return { kind: 'batch', items }
  if (batchEnd < 0) return broken(batchEnd)
  if (skipSpace(raw, batchEnd) !== raw.length) return refused('parse_error')
  if (items.length === 0) return refused('invalid_request', 'The batch is empty')
  return { kind: 'batch', items }
}

function broken(end: number): Message {
  if (end === TOO_DEEP) return refused('invalid_request', 'The JSON is nested too deep')
  return end === TOO_MANY
    ? refused('invalid_request', `A call has at most ${MAX_MEMBERS} members`)
    : refused('parse_error')
}

function refused(reason: 'parse_error' | 'invalid_request', detail?: string): Message {
  return { kind: 'refused', refusal: refuse(reason, detail) }
}

/** Longest id in bytes that is kept and echoed. */
export const MAX_ID = 1024
/** Longest method name in characters. */
export const MAX_METHOD = 128
/** Most members of a call. */
export const MAX_MEMBERS = 100
/** Longest quoted string in bytes that can spell such a name: each character as an escape. */
const MAX_METHOD_RAW = MAX_METHOD * 6 + 2

/** A well-formed call. */
export interface Call {
  /** The client's own bytes; undefined for a notification. */
  readonly id: Raw | undefined
  readonly method: string
  /** The client's own bytes of an array or object; `[]` when absent or null. */
  readonly params: Raw
  /** What they hold, where they are an array. */
  readonly elements: Elements
  /** Whether it does not say `"jsonrpc": "2.0"`, where it does not have to: its reply has the form of JSON-RPC 1.0. */
  readonly isVersion1?: boolean | undefined
}

/** An item that is no well-formed call; answered with the id where one was readable, else null. */
export interface BadCall {
  readonly id: Raw
  readonly refusal: Refusal
  readonly isVersion1?: boolean | undefined
}

/** Narrowing for what a message holds. */
export function isBad(item: Call | BadCall): item is BadCall {
  return 'refusal' in item
}

const NAMES = ['jsonrpc', 'id', 'method', 'params'] as const
const PARAMS = NAMES.indexOf('params')

/** The members that a call has. */
class Members {
  /** Each as it was sent, in the order of NAMES: by place, as V8 looks a computed name up anew each time. */
  readonly values: (Raw | undefined)[] = [undefined, undefined, undefined, undefined]
  /** Why two parsers could read the object differently. */
  fault: string | undefined = undefined
  elements: Elements = NO_ELEMENTS

  /** Which of the four the name at `nameAt` spells, or -1; a fault where another parser could read it otherwise. */
  placeOf(raw: Raw, nameAt: number): number {
    for (let place = 0; place < NAMES.length; place += 1) {
      const match = matchName(raw, nameAt, NAMES[place]!)
      if (match === 'other') continue
      if (match === 'same') return place
      this.fault = `a member's name is a variant of "${NAMES[place]!}"`
      return -1
    }
    return -1
  }

  keep(place: number, value: Raw): void {
    if (this.values[place] !== undefined) this.fault = `duplicate member "${NAMES[place]!}"`
    this.values[place] = value
  }
}

interface Scanned {
  /** Index after the object, INVALID, TOO_DEEP or TOO_MANY. */
  readonly end: number
  readonly item: Call | BadCall | null
}

/**
 * Scans the value at `at`: a request object becomes a call, any other valid value an item that is refused. `anyVersion` also takes
 * objects that do not say `"jsonrpc": "2.0"`.
 */
export function scanCall(raw: Raw, at: number, maxDepth: number, anyVersion = false): Scanned {
  if (raw.charCodeAt(at) !== 123) {
    const end = skipValue(raw, at, maxDepth)
    return { end, item: end < 0 ? null : bad('null', 'a call is a JSON object') }
  }
  const members = new Members()
  let count = 0
  const end = walkMembers(raw, at, (nameAt, begin) => {
    const place = members.placeOf(raw, nameAt)
    let valueEnd: number
    if (place === PARAMS && raw.charCodeAt(begin) === 91) {
      const elements = new FoundElements()
      valueEnd = elements.scan(raw, begin, maxDepth - 1)
      members.elements = elements
    } else valueEnd = skipValue(raw, begin, maxDepth - 1)
    if (valueEnd < 0) return valueEnd
    if (place >= 0) members.keep(place, raw.slice(begin, valueEnd))
    count += 1
    return count <= MAX_MEMBERS ? valueEnd : TOO_MANY
  })
  return { end, item: end < 0 ? null : callOf(members, anyVersion) }
}

function callOf(members: Members, anyVersion: boolean): Call | BadCall {
  const [jsonrpc] = members.values
  const isVersion2 = jsonrpc?.charCodeAt(0) === 34 && matchName(jsonrpc, 0, '2.0') === 'same'
  const item = readCall(members, isVersion2 || anyVersion)
  return isVersion2 || !anyVersion ? item : { ...item, isVersion1: true }
}

function readCall({ values, fault, elements }: Members, isVersionTaken: boolean): Call | BadCall {
  const [, id, method, params] = values
  const readable = readableId(id)
  if (fault !== undefined) return bad(readable, fault)
  if (id !== undefined && readable !== id)
    return bad(readable, `"id" is a string, a number or null of at most ${MAX_ID} bytes`)
  if (!isVersionTaken) return bad(readable, '"jsonrpc" must be "2.0"')
  if (method?.charCodeAt(0) !== 34) return bad(readable, '"method" must be a string')
  const name = method.length > MAX_METHOD_RAW ? null : nameOf(method)
  if (name === null || name.length > MAX_METHOD)
    return bad(readable, `"method" has at most ${MAX_METHOD} characters`)
  if (params === undefined || params === 'null') return { id, method: name, params: '[]', elements }
  const c = params.charCodeAt(0)
  if (c !== 91 && c !== 123) return bad(readable, '"params" must be an array or an object')
  return { id, method: name, params, elements }
}

/** An id that may be echoed: a string, number or null of bounded length; `null` in place of any other. */
function readableId(id: Raw | undefined): Raw {
  if (id === undefined || id.length > MAX_ID) return 'null'
  const c = id.charCodeAt(0)
  return c === 34 || c === 45 || (c >= 48 && c <= 57) ? id : 'null'
}

function bad(id: Raw, why: string): BadCall {
  return { id, refusal: refuse('invalid_request', `This is not a JSON-RPC 2.0 request: ${why}`) }
}

/** A node's response, its value as it was sent. */
export type Reply =
  | { readonly kind: 'result'; readonly result: Raw }
  | {
      readonly kind: 'error'
      readonly error: Raw
      readonly code: number
      readonly message: string
      /** It does not say which call it answers. */
      readonly isUnaddressed?: true
    }

type ErrorReply = Reply & { readonly kind: 'error' }

/** Reads a whole response body; null when it is not one valid JSON-RPC response to the call `id`. */
export function readReply(body: Raw, id: number): Reply | null {
  const found = isUtf8Raw(body) ? scanResponse(body) : null
  if (found === null) return null
  const { result, error } = found
  if (error !== undefined && error !== 'null') return readError(error, found.id, id)
  if (result === undefined || found.id !== String(id)) return null
  return { kind: 'result', result }
}

/** Whether a body is a response to some call, which it may not name. */
export function isReply(body: Raw): boolean {
  const found = isUtf8Raw(body) ? scanResponse(body) : null
  return found?.result !== undefined || found?.error !== undefined
}

/** The error in a response that says itself that it answers the call `id`; null when the body is anything else. */
export function readOwnError(body: Raw, id: number): ErrorReply | null {
  const found = isUtf8Raw(body) ? scanResponse(body) : null
  if (found?.error === undefined || found.error === 'null' || found.id !== String(id)) return null
  return readError(found.error, found.id, id)
}

function readError(error: Raw, sent: Raw | undefined, id: number): ErrorReply | null {
  // A node that could not read the request answers with id null (JSON-RPC 2.0, section 5).
  if (sent !== String(id) && sent !== 'null' && sent !== undefined) return null
  if (error.charCodeAt(0) !== 123) return null
  // The rest may be megabytes of data, which nobody here reads.
  const [code, message] = ['code', 'message'].map(name => {
    const value = firstAt(error, [name])
    return value === null ? null : decodeJson(value)
  })
  if (typeof code !== 'number') return null
  const read: ErrorReply = { kind: 'error', error, code, message: typeof message === 'string' ? message : '' }
  return sent === String(id) ? read : { ...read, isUnaddressed: true }
}
