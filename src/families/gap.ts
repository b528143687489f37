/** What a subscription missed between two upstream sockets, by its kind. */
import type { Reply } from '../jsonrpc/message.ts'
import type { Raw } from '../jsonrpc/raw.ts'

/** Asks one question of the node behind a socket; null when the socket breaks before the answer. */
export type Ask = (method: string, params: Raw) => Promise<Reply | null>

/** How far one network has come. */
export interface Heights {
  /** Best believed head; null until there is one. */
  best(): number | null
  /** Whether the network may have come to a height. */
  isPlausible(height: number): boolean
}

/** Blocks that a gap may span before the client is told to start again. */
export const WIDEST_GAP = 128

/** Blocks between what was delivered and what a node says: beyond this, one of the two was never the chain's. */
export const ABSURD_GAP = 1_000_000

/** The gap cannot be filled: the client has to start again. */
export class GapTooWide extends Error {}

/** The upstream that was asked to fill a gap broke: another one may. */
export class GapBroken extends Error {}

/** Knows what was delivered, and asks for what was missed. */
export interface GapFiller {
  /** Called once the first subscription stands. */
  started(ask: Ask): Promise<void>
  /** Whether a live message is to be passed on: not when it has been delivered already. */
  take(result: Raw): boolean
  /** Whether the message was the last one of its subscription. */
  isLast(result: Raw): boolean
  /** What was missed, in order. `head` is the block up to which the last socket missed nothing, as far as is known. */
  fill(ask: Ask, head: number | null): AsyncIterable<Raw>
}

/** For kinds that go on without filling. */
export const noFiller: GapFiller = {
  started: () => Promise.resolve(),
  take: () => true,
  isLast: () => false,
  fill: () => nothing(),
}

/** The raw result of a question; throws when there is none. */
export async function mustAsk(ask: Ask, method: string, params: Raw): Promise<Raw> {
  const reply = await ask(method, params)
  if (reply?.kind !== 'result') throw new GapBroken(`${method} gave no result`)
  return reply.result
}

/**
 * Throws where too many blocks lie between `known` and `latest` to be filled. Only a head that the network may have come to ends a
 * subscription; of any other one another route is asked.
 */
export function checkGap(known: number, latest: number, heights: Heights): void {
  const missed = latest - known
  if (missed <= WIDEST_GAP) return
  if (missed > ABSURD_GAP || !heights.isPlausible(latest))
    throw new GapBroken(`block ${latest} is not a plausible head`)
  throw new GapTooWide(`${missed} blocks were missed`)
}

/** Throws where the upstream is so far behind all that was delivered, `oldest` on, that nothing can be said of a gap. */
export function checkBehind(oldest: number, latest: number, heights: Heights): void {
  if (oldest <= latest + WIDEST_GAP) return
  if (isFarBehind(latest, heights)) throw new GapBroken(`block ${latest} is far behind`)
  throw new GapTooWide('nothing that was delivered is known to the chain')
}

/** Whether a height is further behind the network than any gap that is filled. */
export function isFarBehind(height: number, heights: Heights): boolean {
  return height < (heights.best() ?? 0) - WIDEST_GAP
}

/** A block number as JSON-RPC writes it (EIP-1474, "Quantity"). */
export function quantity(number: number): Raw {
  return `"0x${number.toString(16)}"`
}

async function* nothing(): AsyncGenerator<Raw> {
  // there is nothing to fill
}
