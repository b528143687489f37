/** Responses of nodes as bytes: one alone, or an array of them in any order, told apart by their ids. */
import { matchName } from './elements.ts'
import type { Raw } from './raw.ts'
import { skipSpace, skipValue, walkElements, walkMembers } from './skip.ts'

/** Levels of nesting believed in a node's reply; the scanner does not recurse, so this only bounds memory. */
const MAX_REPLY_DEPTH = 10_000

const REPLY_NAMES = ['id', 'result', 'error'] as const

type FoundInReply = Partial<Record<(typeof REPLY_NAMES)[number], Raw>>

/** The members of one response object that matter, each as it was sent; null when the body is no such object. */
export function scanResponse(body: Raw): FoundInReply | null {
  const { end, found, isAmbiguous } = scanResponseAt(body, skipSpace(body, 0))
  return end < 0 || isAmbiguous || skipSpace(body, end) !== body.length ? null : found
}

/** The same of the value at `at`, and where it ends: negative where it is not JSON. `found` is null where it is no object. */
function scanResponseAt(
  raw: Raw,
  at: number,
): { readonly end: number; readonly found: FoundInReply | null; readonly isAmbiguous: boolean } {
  if (raw.charCodeAt(at) !== 123)
    return { end: skipValue(raw, at, MAX_REPLY_DEPTH), found: null, isAmbiguous: false }
  const found: FoundInReply = {}
  let isAmbiguous = false
  const end = walkMembers(raw, at, (nameAt, valueAt) => {
    const valueEnd = skipValue(raw, valueAt, MAX_REPLY_DEPTH - 1)
    if (valueEnd < 0) return valueEnd
    for (const name of REPLY_NAMES) {
      const match = matchName(raw, nameAt, name)
      if (match === 'variant' && name !== 'id') isAmbiguous = true
      if (match !== 'same') continue
      if (found[name] !== undefined) isAmbiguous = true
      found[name] = raw.slice(valueAt, valueEnd)
    }
    return valueEnd
  })
  return { end, found, isAmbiguous }
}

/** One response in an array. */
export interface OneReply {
  /** As it was sent. */
  readonly raw: Raw
  /** Its error, where it has one. */
  readonly error: Raw | undefined
}

/** Those of an array by the id that each carries; null under an id that two carry, or one that is not well formed. */
export interface Replies {
  readonly byId: ReadonlyMap<Raw, OneReply | null>
  /** Whether the array ends as it should and every element of it is a response with an id of its own. */
  readonly isWhole: boolean
}

/** Finds the responses in an array, also in one that breaks off; null where the body holds no array. */
export function scanReplies(body: Raw): Replies | null {
  const begin = skipSpace(body, 0)
  if (body.charCodeAt(begin) !== 91) return null
  const byId = new Map<Raw, OneReply | null>()
  let isWhole = true
  const arrayEnd = walkElements(body, begin, at => {
    const { end, found, isAmbiguous } = scanResponseAt(body, at)
    if (end < 0) return end
    const id = found?.id
    if (id === undefined) isWhole = false
    else if (isAmbiguous || byId.has(id)) {
      isWhole = false
      byId.set(id, null)
    } else byId.set(id, { raw: body.slice(at, end), error: found?.error })
    return end
  })
  if (arrayEnd < 0 || skipSpace(body, arrayEnd) !== body.length) isWhole = false
  return { byId, isWhole }
}
