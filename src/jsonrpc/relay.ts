/** Passing on a reply that is too long to hold: its value streams, its envelope is checked before the end is told. */
import type { Raw } from './raw.ts'
import { nameOf } from './elements.ts'
import { scanResponse } from './replies.ts'
import { Utf8Pieces } from './utf8-pieces.ts'
import { skipName, skipSpace, skipString, skipValue } from './skip.ts'
import { ValueEnd } from './value-end.ts'

/** Bytes of envelope that may follow the value. */
const MAX_ENVELOPE_END = 1024

/** The member whose value goes on beyond what has come so far, or has just ended there. */
export interface OpenMember {
  readonly member: 'result' | 'error'
  /** Index of the value's first byte. */
  readonly begin: number
  /** The id, where it stands before the value. */
  readonly id: Raw | undefined
}

/** Finds the open member in the first part of a response; null when it does not look like one. */
export function findOpenMember(head: Raw): OpenMember | null {
  let id: Raw | undefined
  let i = skipSpace(head, 0)
  if (head.charCodeAt(i) !== 123) return null
  for (;;) {
    i = skipSpace(head, i + 1)
    const begin = skipName(head, i)
    if (begin < 0) return null
    const name = nameOf(head.slice(i, skipString(head, i)))
    const end = skipValue(head, begin, 10_000)
    const isAnswer = (name === 'result' || name === 'error') && '{["'.includes(head.charAt(begin))
    // The piece with which a reply became too long to hold may be its last.
    if (isAnswer && (end < 0 || head.length - end <= MAX_ENVELOPE_END)) return { member: name, begin, id }
    if (end < 0) return null
    if (name === 'id') id = head.slice(begin, end)
    i = skipSpace(head, end)
    if (head.charCodeAt(i) !== 44) return null
  }
}

/**
 * Yields the bytes of the open value, then checks that the response closed around it as the answer to the call `id`.
 * Throws when the upstream broke off or said something else at its end; the caller must not end its reply well then.
 */
export async function* relayValue(
  head: Buffer,
  open: OpenMember,
  tail: AsyncIterable<Buffer>,
  id: number,
): AsyncGenerator<Buffer> {
  const scanner = new ValueEnd()
  const text = new Utf8Pieces()
  let isText = text.feed(head.subarray(0, open.begin))
  let envelope: Raw | null = null
  for await (const piece of joined(head.subarray(open.begin), tail)) {
    isText &&= text.feed(piece)
    if (!isText) throw new Error('the reply is not UTF-8')
    if (envelope === null) {
      const end = scanner.feed(piece)
      yield end < 0 ? piece : piece.subarray(0, end)
      if (end >= 0) envelope = piece.toString('latin1', end)
    } else envelope += piece.toString('latin1')
    if (envelope !== null && envelope.length > MAX_ENVELOPE_END)
      throw new Error('the reply goes on after its value')
  }
  if (envelope === null) throw new Error('the reply broke off')
  // The value itself is on its way to the client; any value in its place shows whether the rest is well formed.
  const found = scanResponse(`${head.toString('latin1', 0, open.begin)}0${envelope}`)
  if (found?.id !== String(id)) throw new Error('the reply is not well formed')
  const other = open.member === 'result' ? found.error : undefined
  if (other !== undefined && other !== 'null') throw new Error('the node broke off with an error')
}

async function* joined(head: Buffer, tail: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield head
  yield* tail
}
