/** `logs`: missed logs are read by range; logs of blocks that a reorg dropped come again with `removed: true`. */
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { elementsOf, memberOf, membersOf, pickMembers } from '../../jsonrpc/elements.ts'
import { rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Ask, GapFiller, Heights } from '../gap.ts'
import {
  ABSURD_GAP,
  GapBroken,
  GapTooWide,
  WIDEST_GAP,
  checkBehind,
  checkGap,
  mustAsk,
  quantity,
} from '../gap.ts'

/** Blocks before the last known head that are read again: a head may be known before its logs were pushed. */
const OVERLAP = 16
/** Blocks whose logs are asked for at a time: what comes in one frame is bounded. */
const PIECE = 32
/** Logs that are remembered, and their bytes: a node can send any number for one block. */
const REMEMBERED = { logs: 20_000, bytes: 8 * 1024 * 1024 }

interface Delivered {
  readonly number: number
  readonly blockHash: Raw
  readonly raw: Raw
}

/** Members of a log that say which one it is. */
const MEMBERS = ['blockNumber', 'blockHash', 'logIndex', 'removed']
/** Members of a filter that say which blocks; a subscription has none. */
const OF_BLOCKS = new Set(['fromBlock', 'toBlock', 'blockHash'])

/** A filler for the filter of a subscribe call's params. */
export function logsFiller(params: Raw, heights: Heights): GapFiller {
  const filter = elementsOf(params)[1] ?? '{}'
  /** By block and log index, in the order of delivery. */
  const delivered = new Map<string, Delivered>()
  /** Newest block that was there when the subscription began: its logs and older ones were never asked for. */
  let start: number | null = null
  /** Newest block up to which a gap was filled. */
  let filled = 0
  /** Newest block known to have been delivered. */
  let mark = 0
  let leap = Infinity
  let bytes = 0

  const forget = (key: string): boolean => {
    bytes -= delivered.get(key)?.raw.length ?? 0
    return delivered.delete(key)
  }

  /** An absurd leap counts once a second log confirms it: until then no older log is forgotten for it. */
  const advance = (number: number): void => {
    const newest = Math.max(mark, start ?? 0)
    const isNear = newest === 0 || number <= newest + ABSURD_GAP || Math.abs(number - leap) <= ABSURD_GAP
    if (isNear && heights.isPlausible(number)) mark = Math.max(mark, number)
    else leap = number
  }

  const take = (raw: Raw): boolean => {
    const log = logOf(raw)
    if (log === null) return true
    const key = `${log.blockHash}:${log.index}`
    if (log.removed) return forget(key)
    if (delivered.has(key)) return false
    // No gap goes back that far, and no reorg that is followed.
    if (log.number < Math.max(mark, start ?? 0) - WIDEST_GAP) return true
    delivered.set(key, log)
    bytes += raw.length
    advance(log.number)
    for (const [old, { number }] of delivered) {
      const fits = delivered.size <= REMEMBERED.logs && bytes <= REMEMBERED.bytes
      if (fits && number >= mark - WIDEST_GAP) break
      forget(old)
    }
    return true
  }

  async function* fill(ask: Ask, head: number | null): AsyncGenerator<Raw> {
    if (start === null) return
    const latest = readQuantity(await mustAsk(ask, 'eth_blockNumber', '[]'))
    if (latest === null) throw new GapBroken('eth_blockNumber gave no number')
    // A log above what this upstream has was none of the chain's, or will come again and is known.
    const told = [...delivered.values()].filter(({ number }) => number <= latest)
    const reached = [start, filled, Math.min(head ?? 0, latest)].filter(number => number <= latest)
    const newest = told.reduce((most, { number }) => Math.max(most, number), Math.max(...reached))
    if (newest < start) {
      checkBehind(start, latest, heights)
      return
    }
    checkGap(newest, latest, heights)
    if (mark > latest) mark = newest
    const dropped = await droppedLogs(ask, told)
    const gone = new Set(dropped)
    const kept = told.filter(log => !gone.has(log))
    const known = kept.reduce((most, { number }) => Math.max(most, number), Math.max(...reached))
    for (const { raw } of dropped.toReversed()) {
      take(asRemoved(raw))
      yield asRemoved(raw)
    }
    const oldest = dropped.reduce((least, { number }) => Math.min(least, number), known - OVERLAP + 1)
    for (let from = Math.max(start + 1, oldest); from <= latest; from += PIECE) {
      const range = withRange(filter, from, Math.min(from + PIECE - 1, latest))
      for (const log of logsIn(await mustAsk(ask, 'eth_getLogs', `[${range}]`))) if (take(log)) yield log
    }
    filled = latest
    mark = Math.max(mark, latest)
  }

  return {
    async started(ask) {
      const reply = await ask('eth_blockNumber', '[]')
      const told = reply?.kind === 'result' ? readQuantity(reply.result) : null
      start = told === null ? null : plausible(told, heights)
    },
    take,
    isLast: () => false,
    fill,
  }
}

/** A height that one node says, within what is known of the network. */
function plausible(height: number, heights: Heights): number {
  const best = heights.best()
  if (best === null) return height
  return heights.isPlausible(height) ? Math.max(height, best - WIDEST_GAP) : best
}

/** Those of the logs whose blocks the new upstream does not have, oldest first. None of them is above its head. */
async function droppedLogs(ask: Ask, delivered: readonly Delivered[]): Promise<Delivered[]> {
  const dropped = new Set<Raw>()
  for (const { number, blockHash } of delivered.toSorted((a, b) => b.number - a.number)) {
    if (dropped.has(blockHash)) continue
    if (dropped.size > WIDEST_GAP) throw new GapTooWide(`more than ${WIDEST_GAP} blocks were dropped`)
    const block = await mustAsk(ask, 'eth_getBlockByNumber', `[${quantity(number)},false]`)
    if (block.charCodeAt(0) !== 123 || memberOf(block, 'hash') === blockHash) break
    dropped.add(blockHash)
  }
  return delivered.filter(({ blockHash }) => dropped.has(blockHash))
}

function logOf(raw: Raw): (Delivered & { readonly index: Raw; readonly removed: boolean }) | null {
  if (raw.charCodeAt(0) !== 123) return null
  const [numbered, blockHash, index, removed] = pickMembers(raw, MEMBERS)
  const number = readQuantity(numbered)
  if (number === null || blockHash?.charCodeAt(0) !== 34 || index == null) return null
  return { number, blockHash, index, removed: removed === 'true', raw }
}

function logsIn(result: Raw): Raw[] {
  if (result.charCodeAt(0) !== 91) throw new GapBroken('eth_getLogs gave no array')
  return elementsOf(result)
}

function asRemoved(log: Raw): Raw {
  const members = membersOf(log).filter(([name]) => name !== 'removed')
  return `{${[...members.map(written), '"removed":true'].join(',')}}`
}

function withRange(filter: Raw, from: number, to: number): Raw {
  const members =
    filter.charCodeAt(0) === 123 ? membersOf(filter).filter(([name]) => !OF_BLOCKS.has(name)) : []
  return `{${[...members.map(written), `"fromBlock":${quantity(from)}`, `"toBlock":${quantity(to)}`].join(',')}}`
}

function written([name, value]: readonly [string, Raw]): string {
  return `${rawJson(name)}:${value}`
}
