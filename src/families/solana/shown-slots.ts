/** What an answer of a Solana node shows: how far it has come, and blockhashes that it gives out. */
import { memberOf } from '../../jsonrpc/elements.ts'
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Commitment, HeightKind } from '../height-kind.ts'

/** A number that an answer shows, and on which scale. */
export type ShownSlot = readonly [scale: HeightKind, number: number]

/** The context as nodes write it: first, and short. */
const CONTEXT = /^\{\s*"context"\s*:\s*(\{[^{}]*\})/
/** Bytes in which it is looked for: replies may be long. */
const BEGINNING = 512

/** The numbers that an answer at that commitment shows its reader. */
export function shownSlots(method: string, commitment: Commitment, result: Raw): ShownSlot[] {
  if (method === 'getSlot') return numbered(commitment, result)
  if (method === 'getBlockHeight') return numbered(`${commitment} height`, result)
  if (result.charCodeAt(0) !== 123) return []
  if (method === 'getEpochInfo')
    return [
      ...numbered(commitment, memberOf(result, 'absoluteSlot')),
      ...numbered(`${commitment} height`, memberOf(result, 'blockHeight')),
    ]
  const context = CONTEXT.exec(result.slice(0, BEGINNING))?.[1]
  return context === undefined ? [] : numbered(commitment, memberOf(context, 'slot'))
}

/** The blockhash in the answer of getLatestBlockhash and its elders; null when there is none. */
export function shownBlockhash(result: Raw): string | null {
  const value = result.charCodeAt(0) === 123 ? memberOf(result, 'value') : null
  const blockhash = value?.charCodeAt(0) === 123 ? memberOf(value, 'blockhash') : null
  return blockhash?.charCodeAt(0) === 34 ? (decodeJson(blockhash) as string) : null
}

function numbered(scale: HeightKind, raw: Raw | null | undefined): ShownSlot[] {
  const number = readQuantity(raw)
  return number === null ? [] : [[scale, number]]
}
