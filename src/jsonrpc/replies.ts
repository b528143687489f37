/** The reply to a body of several calls: an array of responses in any order, told apart by their ids. */
import { scanResponseAt } from './message.ts'
import type { Raw } from './raw.ts'
import { skipSpace, walkElements } from './skip.ts'

/** One response in it. */
export interface OneReply {
  /** As it was sent. */
  readonly raw: Raw
  /** Its error, where it has one. */
  readonly error: Raw | undefined
}

/** The responses by the id that each carries; null under an id that two carry, or one that is not well formed. */
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
