/** `logs`: missed logs are read by range; logs of blocks that a reorg dropped come again with `removed: true`. */
import { elementsOf, memberOf, membersOf } from '../../jsonrpc/elements.ts'
import { decodeJson, rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { GapTooWide, WIDEST_GAP, mustAsk, quantity } from './gap.ts'
import type { GapFiller } from './gap.ts'
import type { Ask } from './upstream-socket.ts'

/** Blocks before the last known head that are read again: a head may be known before its logs were pushed. */
const OVERLAP = 16

interface Delivered {
  readonly number: number
  readonly blockHash: Raw
  readonly raw: Raw
}

/** Members of a filter that say which blocks; a subscription has none. */
const OF_BLOCKS = new Set(['fromBlock', 'toBlock', 'blockHash'])

/** A filler for the filter of a subscribe call's params. */
export function logsFiller(params: Raw): GapFiller {
  const filter = elementsOf(params)[1] ?? '{}'
  /** By block and log index, in the order of delivery. */
  const delivered = new Map<string, Delivered>()
  /** Newest block that was there when the subscription began: its logs and older ones were never asked for. */
  let start: number | null = null
  /** Newest block known to have been delivered. */
  let mark = 0

  const take = (raw: Raw): boolean => {
    const log = logOf(raw)
    if (log === null) return true
    const key = `${log.blockHash}:${log.index}`
    if (log.removed) return delivered.delete(key)
    if (delivered.has(key)) return false
    delivered.set(key, log)
    mark = Math.max(mark, log.number)
    for (const [old, { number }] of delivered) {
      if (number >= mark - WIDEST_GAP) break
      delivered.delete(old)
    }
    return true
  }

  async function* fill(ask: Ask, head: number | null): AsyncGenerator<Raw> {
    if (start === null) return
    const known = Math.max(mark, start, head ?? 0)
    const latest = Number(decodeJson(await mustAsk(ask, 'eth_blockNumber', '[]')))
    if (latest - known > WIDEST_GAP) throw new GapTooWide(`${latest - known} blocks were missed`)
    const dropped = await droppedLogs(ask, [...delivered.values()])
    for (const { raw } of dropped.toReversed()) {
      take(asRemoved(raw))
      yield asRemoved(raw)
    }
    const from = Math.max(start + 1, Math.min(known - OVERLAP + 1, ...dropped.map(({ number }) => number)))
    if (from <= latest)
      for (const log of elementsOf(await mustAsk(ask, 'eth_getLogs', `[${withRange(filter, from, latest)}]`)))
        if (take(log)) yield log
    mark = Math.max(mark, latest)
  }

  return {
    async started(ask) {
      const reply = await ask('eth_blockNumber', '[]')
      if (reply?.kind === 'result') start = Number(decodeJson(reply.result))
    },
    take,
    isLast: () => false,
    fill,
  }
}

/** The delivered logs whose blocks the new upstream does not have, oldest first. */
async function droppedLogs(ask: Ask, delivered: readonly Delivered[]): Promise<Delivered[]> {
  const dropped = new Set<Raw>()
  for (const { number, blockHash } of delivered.toReversed()) {
    if (dropped.has(blockHash)) continue
    const block = await mustAsk(ask, 'eth_getBlockByNumber', `[${quantity(number)},false]`)
    // A block that the new upstream has not come to yet is not dropped.
    if (block === 'null' || memberOf(block, 'hash') === blockHash) break
    dropped.add(blockHash)
  }
  return delivered.filter(({ blockHash }) => dropped.has(blockHash))
}

function logOf(raw: Raw): (Delivered & { readonly index: Raw; readonly removed: boolean }) | null {
  if (raw.charCodeAt(0) !== 123) return null
  const number = memberOf(raw, 'blockNumber')
  const blockHash = memberOf(raw, 'blockHash')
  const index = memberOf(raw, 'logIndex')
  if (number == null || blockHash == null || index == null) return null
  const removed = memberOf(raw, 'removed') === 'true'
  return { number: Number(decodeJson(number)), blockHash, index, removed, raw }
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
